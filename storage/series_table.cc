#include "storage/series_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/check.h"

namespace halite::storage {
namespace {

// What a series takes besides its tag set: itself, its entry in its metric's map, which is between
// half and 7/8 full, and its place in the metric's list, which grows by half.
constexpr std::size_t kIdEntry = 14;
constexpr std::size_t kOwnBytes = sizeof(Series) + kIdEntry + (sizeof(SeriesTable::Member) * 3 / 2);

// The set, its entries in the map of sets and by id, and its id in the postings of each tag.
std::size_t tag_set_bytes(std::size_t tags, std::size_t bytes) {
  constexpr std::size_t kMapped = 24;
  constexpr std::size_t kPosted = 6;
  return sizeof(TagSet) + kMapped + (tags * (sizeof(SharedTag*) + kPosted)) + bytes;
}

}  // namespace

std::size_t series_bytes(std::size_t tags, std::size_t tsuid_bytes) {
  return kOwnBytes + tag_set_bytes(tags, tsuid_bytes);
}

Result<void> SeriesTable::check_room(std::size_t series, std::size_t bytes) const {
  if (series > limits_.series - size()) {
    return fail(Errc::kTooLarge,
                fmt::format("no more than {} series are known at a time; storage.series_max raises "
                            "this",
                            limits_.series));
  }
  const std::size_t taken = bytes_;
  if (bytes > limits_.bytes - std::min(taken, limits_.bytes)) {
    return fail(Errc::kTooLarge,
                fmt::format("the series known at a time take no more than {} bytes of memory; "
                            "storage.series_bytes_max raises this",
                            limits_.bytes));
  }
  return {};
}

// A set may be made for a series that then finds no room: a few more sets than series.
SeriesTable::SeriesTable(SeriesLimits limits, UidWidths widths)
    : limits_(limits),
      widths_(widths),
      tags_(std::size_t{limits.series} + kChunkSeries),
      chunks_((std::size_t{limits.series} + kChunkSeries - 1) / kChunkSeries) {}

SeriesTable::~SeriesTable() {
  for (const std::atomic<Chunk*>& chunk : chunks_) delete chunk.load();
}

const Series& SeriesTable::at(SeriesId id) const {
  HALITE_CHECK(id < size(), "a series id of another store");
  const Chunk* chunk = chunks_[id / kChunkSeries].load(std::memory_order_acquire);
  return (*chunk)[id % kChunkSeries];
}

const SeriesTable::Metric* SeriesTable::find_metric(std::uint64_t uid) const {
  const std::shared_lock lock(metrics_mutex_);
  const auto found = metrics_.find(uid);
  return found == metrics_.end() ? nullptr : found->second.get();
}

std::optional<SeriesId> SeriesTable::find_in(const Metric& metric, TagSetId tags) {
  const std::shared_lock lock(metric.mutex);
  const auto found = metric.ids.find(tags);
  if (found == metric.ids.end()) return std::nullopt;
  return found->second;
}

std::optional<SeriesId> SeriesTable::find(BytesView tsuid) const {
  if (tsuid.size() < widths_.metric) return std::nullopt;
  const Metric* const metric = find_metric(load_be_width(tsuid.substr(0, widths_.metric)));
  if (metric == nullptr) return std::nullopt;
  const TagSet* const tags = tags_.find(tsuid.substr(widths_.metric));
  return tags == nullptr ? std::nullopt : find_in(*metric, tags->id());
}

bool SeriesTable::knows_tags(BytesView tsuid) const {
  return tsuid.size() >= widths_.metric && tags_.find(tsuid.substr(widths_.metric)) != nullptr;
}

Result<SeriesId> SeriesTable::add(const NewSeries& series) {
  const BytesView tag_bytes = BytesView(series.tsuid).substr(widths_.metric);
  const TagSet* tags = tags_.find(tag_bytes);
  Metric& metric = metric_of(series);
  if (tags != nullptr) {
    if (const auto known = find_in(metric, tags->id())) return *known;
  } else {
    TRY_VOID(check_room(1, series_bytes(series.tags.size(), series.tsuid.size())));
    const TagIndex::Added added = tags_.add(tag_bytes, series.tags);
    tags = added.set;
    if (added.made) bytes_ += tag_set_bytes(series.tags.size(), series.tsuid.size());
  }
  const std::lock_guard lock(metric.mutex);
  const auto known = metric.ids.find(tags->id());
  if (known != metric.ids.end()) return known->second;
  TRY(const SeriesId id, append(metric, *tags, series.shard));
  metric.members.push_back({.id = id, .tags = tags->id()});
  metric.ids.emplace(tags->id(), id);
  return id;
}

Result<SeriesId> SeriesTable::append(const Metric& metric, const TagSet& tags,
                                     std::uint32_t shard) {
  const std::lock_guard grow(grow_mutex_);
  TRY_VOID(check_room(1, kOwnBytes));
  const SeriesId id = size_.load();
  std::atomic<Chunk*>& chunk = chunks_[id / kChunkSeries];
  if (chunk.load() == nullptr) {
    chunk.store(std::make_unique<Chunk>().release(), std::memory_order_release);
  }
  Series& place = (*chunk.load())[id % kChunkSeries];
  place.id = id;
  place.shard = shard;
  place.metric = MetricName(metric.shared);
  place.tags = SeriesTags(tags);
  place.tsuid = Tsuid(metric.shared, tags);
  bytes_ += kOwnBytes;
  size_.store(id + 1);
  return id;
}

SeriesTable::Metric& SeriesTable::metric_of(const NewSeries& series) {
  {
    const std::shared_lock lock(metrics_mutex_);
    const auto found = metrics_.find(series.metric_uid);
    if (found != metrics_.end()) return *found->second;
  }
  const std::lock_guard lock(metrics_mutex_);
  std::unique_ptr<Metric>& metric = metrics_[series.metric_uid];
  if (metric == nullptr) {
    metric = std::make_unique<Metric>();
    metric->shared.uid = series.tsuid.substr(0, widths_.metric);
    const auto renamed = renamed_.find(series.metric_uid);  // its maker may not know yet
    show(*metric, renamed == renamed_.end() ? series.metric : renamed->second, metric_names_);
  }
  return *metric;
}

void SeriesTable::show(Metric& metric, std::string_view name, std::deque<std::string_view>& names) {
  metric.shared.name.store(&names.emplace_back(name), std::memory_order_release);
}

void SeriesTable::rename(const Renamed& renamed) {
  if (renamed.kind != NameKind::kMetric) {
    tags_.rename(renamed.kind, renamed.uid, renamed.name);
    return;
  }
  const std::lock_guard lock(metrics_mutex_);
  renamed_[renamed.uid] = renamed.name;
  const auto found = metrics_.find(renamed.uid);
  if (found != metrics_.end()) show(*found->second, renamed.name, metric_names_);
}

std::size_t SeriesTable::count_of_metric(std::uint64_t metric_uid) const {
  const Metric* const metric = find_metric(metric_uid);
  if (metric == nullptr) return 0;
  const std::shared_lock lock(metric->mutex);
  return metric->members.size();
}

std::vector<SeriesTable::Member> SeriesTable::of_metric(std::uint64_t metric_uid, std::size_t from,
                                                        std::size_t max) const {
  const Metric* const metric = find_metric(metric_uid);
  if (metric == nullptr) return {};
  const std::shared_lock lock(metric->mutex);
  const std::span<const Member> members = metric->members;
  if (members.size() <= from) return {};
  const auto part = members.subspan(from, std::min(max, members.size() - from));
  return {part.begin(), part.end()};
}

std::vector<SeriesTable::Member> SeriesTable::of_metric(std::uint64_t metric_uid,
                                                        std::span<const TagSetId> tags) const {
  const Metric* const metric = find_metric(metric_uid);
  if (metric == nullptr) return {};
  std::vector<Member> found;
  const std::shared_lock lock(metric->mutex);
  for (const TagSetId set : tags) {
    const auto at = metric->ids.find(set);
    if (at != metric->ids.end()) found.push_back({.id = at->second, .tags = set});
  }
  return found;
}

}  // namespace halite::storage
