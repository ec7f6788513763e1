#include "app/bulk/store_source.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include "common/threads/run_here.h"

namespace halite::app {
namespace {

SeriesName name_of(const storage::Series& series) {
  SeriesName name{.metric = std::string(series.metric), .tags = {}};
  for (const storage::SeriesTag& tag : series.tags) {
    name.tags.push_back({.key = std::string(tag.key), .value = std::string(tag.value)});
  }
  std::ranges::sort(name.tags);
  return name;
}

// Adds the points of a block.
void add_block(const storage::Block& block, std::vector<ingest::PointBits>& to) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    const unsigned kind = block.floats[i] ? kFloat : 0;
    const unsigned unit = block.times[i] % 1000 != 0 ? kMillis : 0;
    to.push_back({.time = block.times[i],
                  .value = block.values[i],
                  .flags = static_cast<std::uint8_t>(kind | unit)});
  }
}

}  // namespace

bool matches_metric(const SourceMatch& match, std::string_view metric) {
  const std::string_view pattern = match.metric;
  if (!pattern.ends_with('*')) return metric == pattern;
  return metric.starts_with(pattern.substr(0, pattern.size() - 1));
}

StoreSource::StoreSource(storage::PointStore& store, std::vector<SourceMatch> matches,
                         std::int64_t range_ms_min)
    : store_(store), matches_(std::move(matches)), range_ms_min_(range_ms_min) {}

Result<std::vector<std::string>> StoreSource::metrics() {
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  TRY(std::vector<std::string> all, run_here(store_.suggest(storage::NameKind::kMetric, "", kAll)));
  if (!matches_.empty()) {
    std::erase_if(all, [this](const std::string& metric) {
      return std::ranges::none_of(
          matches_, [&metric](const SourceMatch& match) { return matches_metric(match, metric); });
    });
  }
  std::ranges::sort(all);
  return all;
}

void StoreSource::refresh() {
  const std::lock_guard lock(mutex_);
  metrics_.clear();
}

Result<StoreSource::SelectionPtr> StoreSource::select(storage::SeriesQuery query) {
  auto selected = run_here(store_.select(std::move(query), {}));
  // A tag that no series has.
  if (!selected && selected.error().code == Errc::kNotFound) return nullptr;
  return selected;
}

Result<std::shared_ptr<const StoreSource::Metric>> StoreSource::metric(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(metrics_, name, &Known::name);
  if (known != metrics_.end()) return known->metric;
  auto found = std::make_shared<Metric>();
  std::vector<std::vector<storage::TagFilter>> wanted;
  for (const SourceMatch& match : matches_) {
    if (matches_metric(match, name)) wanted.push_back(match.filters);
  }
  if (matches_.empty()) wanted.emplace_back();
  std::set<Bytes> tsuids;
  SelectionPtr only;
  for (std::vector<storage::TagFilter>& filters : wanted) {
    storage::SeriesQuery query;
    query.metric = name;
    query.filters = std::move(filters);
    TRY(only, select(std::move(query)));
    if (only == nullptr) continue;
    TRY(const storage::PinnedSeries ids, run_here(store_.lookup(only, 0)));
    for (const storage::SeriesId id : ids) tsuids.insert(Bytes(store_.series(id).tsuid));
  }
  found->tsuids.assign(tsuids.begin(), tsuids.end());
  if (wanted.size() == 1) found->all = std::move(only);
  if (metrics_.size() == kMetricsMax) metrics_.pop_front();
  metrics_.push_back({.name = name, .metric = found});
  return found;
}

Result<std::vector<ingest::SeriesPoints>> StoreSource::read(const SourceSlice& slice,
                                                            std::size_t points_max) {
  TRY(const std::shared_ptr<const Metric> of_metric, metric(slice.metric));
  const std::vector<Bytes>& tsuids = of_metric->tsuids;
  const std::size_t begin = tsuids.size() * slice.part / slice.parts;
  const std::size_t end = tsuids.size() * (slice.part + 1) / slice.parts;
  if (begin == end) return std::vector<ingest::SeriesPoints>();
  SelectionPtr selection = slice.parts == 1 ? of_metric->all : nullptr;
  if (selection == nullptr) {
    const auto at = [&](std::size_t index) {
      return tsuids.begin() + static_cast<std::ptrdiff_t>(index);
    };
    storage::SeriesQuery query;
    query.metric = slice.metric;
    query.tsuids = {at(begin), at(end)};
    TRY(selection, select(std::move(query)));
    if (selection == nullptr) return std::vector<ingest::SeriesPoints>();
  }
  // One series cannot be divided.
  const bool divisible = slice.range.end - slice.range.begin > range_ms_min_ || end - begin > 1;
  return read_selection(selection, slice.range, divisible ? points_max : SIZE_MAX);
}

Result<std::vector<ingest::SeriesPoints>> StoreSource::read_selection(const SelectionPtr& selection,
                                                                      TimeRange range,
                                                                      std::size_t points_max) {
  boost::unordered_flat_map<storage::SeriesId, std::vector<ingest::PointBits>> points;
  std::size_t count = 0;
  for (const storage::ShardSeriesCount& shard : store_.series_by_shard(*selection)) {
    const auto scan = store_.scan(selection, range, shard.shard);
    while (true) {
      TRY(const std::vector<storage::Block> blocks, run_here(scan->next()));
      if (blocks.empty()) break;
      for (const storage::Block& block : blocks) {
        if (block.size() == 0) continue;
        count += block.size();
        add_block(block, points[block.series]);
      }
      if (count > points_max) return fail(Errc::kTooLarge, "too many points for one slice");
    }
  }
  std::vector<ingest::SeriesPoints> all;
  all.reserve(points.size());
  for (auto& [id, of_series] : points) {
    all.push_back({.series = name_of(store_.series(id)), .points = std::move(of_series)});
  }
  std::ranges::sort(all, {}, &ingest::SeriesPoints::series);
  return all;
}

}  // namespace halite::app
