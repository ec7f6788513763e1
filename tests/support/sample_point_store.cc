#include "tests/support/sample_point_store.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "common/bytes/bytes.h"
#include "common/check.h"

namespace halite::test {
namespace {

using storage::Block;
using storage::Series;
using storage::SeriesId;

class IdsSelected final : public storage::Selection {
 public:
  std::vector<SeriesId> ids;
};

// Hands out a few short blocks at a time, of a series picked at random each.
class SampleScan final : public storage::BlockScan {
 public:
  SampleScan(std::vector<std::pair<SeriesId, std::vector<SamplePoint>>> rest, std::uint64_t seed)
      : rest_(std::move(rest)), random_(seed) {}

  Task<std::vector<Block>> next() override {
    std::vector<Block> blocks;
    while (!rest_.empty() && blocks.size() < 5) blocks.push_back(take_block());
    co_return std::move(blocks);
  }

 private:
  Block take_block() {
    const std::size_t pick = random_() % rest_.size();
    auto& [id, points] = rest_[pick];
    const std::size_t count = std::min<std::size_t>(points.size(), 1 + random_() % 7);
    Block block{.series = id, .times = {}, .values = {}, .floats = {}};
    for (std::size_t i = 0; i < count; ++i) {
      block.times.push_back(points[i].time);
      block.values.push_back(points[i].value);
      block.floats[i] = points[i].is_float;
    }
    points.erase(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(count));
    if (points.empty()) rest_.erase(rest_.begin() + static_cast<std::ptrdiff_t>(pick));
    return block;
  }

  std::vector<std::pair<SeriesId, std::vector<SamplePoint>>> rest_;
  std::mt19937_64 random_;
};

std::unexpected<Error> not_offered() {
  return fail(Errc::kUnsupported, "the sample store is only read");
}

}  // namespace

SamplePointStore::SamplePointStore(std::vector<SampleSeries> series, std::uint32_t shards,
                                   std::uint64_t seed)
    : samples_(std::move(series)), shards_(shards), seed_(seed) {
  std::map<std::string, std::uint64_t> keys;
  std::map<std::string, std::uint64_t> values;
  std::map<std::string, std::uint64_t> metrics;
  for (const SampleSeries& sample : samples_) {
    storage::NewSeries made;
    made.metric_uid = metrics.emplace(sample.name.metric, metrics.size() + 1).first->second;
    made.metric = sample.name.metric;
    for (const Tag& tag : sample.name.tags) {
      made.tags.push_back(
          {.key = tag.key,
           .value = tag.value,
           .key_uid = keys.emplace(tag.key, keys.size() + 1).first->second,
           .value_uid = values.emplace(tag.value, values.size() + 1).first->second});
    }
    std::ranges::sort(made.tags, {}, &storage::SeriesTag::key_uid);
    append_be_width(made.tsuid, made.metric_uid, 3);
    for (const storage::SeriesTag& tag : made.tags) {
      append_be_width(made.tsuid, tag.key_uid, 3);
      append_be_width(made.tsuid, tag.value_uid, 3);
    }
    made.shard = series_.size() % shards;
    const SeriesId id = series_.add(made).value();
    HALITE_CHECK(id + 1 == series_.size(), "no series twice");
  }
}

Task<storage::InternedSeries> SamplePointStore::intern(std::vector<SeriesName>,
                                                       storage::CreateNames) {
  co_return not_offered();
}

const Series& SamplePointStore::series(SeriesId id) const { return series_.at(id); }

Task<storage::Accepted> SamplePointStore::append(storage::PointBatch) { co_return not_offered(); }

Task<std::shared_ptr<const storage::Selection>> SamplePointStore::select(
    storage::SeriesQuery query, storage::ReadContext context) {
  auto selected = std::make_shared<IdsSelected>();
  for (SeriesId id = 0; id < series_.size(); ++id) {
    const Series& one = series_.at(id);
    const bool wanted = query.tsuids.empty()
                            ? one.metric == query.metric
                            : std::ranges::count(query.tsuids, one.tsuid.bytes()) > 0;
    if (wanted) selected->ids.push_back(one.id);
  }
  co_return selected;
}

std::unique_ptr<storage::BlockScan> SamplePointStore::scan(
    std::shared_ptr<const storage::Selection> selection, TimeRange range, std::uint32_t shard) {
  std::vector<std::pair<SeriesId, std::vector<SamplePoint>>> found;
  for (const SeriesId id : static_cast<const IdsSelected&>(*selection).ids) {
    if (series_.at(id).shard != shard) continue;
    std::vector<SamplePoint> points;
    for (const SamplePoint& point : samples_[id].points) {
      if (point.time >= range.begin && point.time < range.end) points.push_back(point);
    }
    if (!points.empty()) found.emplace_back(id, std::move(points));
  }
  return std::make_unique<SampleScan>(std::move(found), seed_ + shard);
}

std::vector<storage::ShardSeriesCount> SamplePointStore::series_by_shard(
    const storage::Selection& selection) const {
  std::map<std::uint32_t, std::size_t> counts;
  for (const SeriesId id : static_cast<const IdsSelected&>(selection).ids) {
    ++counts[series_.at(id).shard];
  }
  std::vector<storage::ShardSeriesCount> series_by_shard;
  for (const auto& [shard, count] : counts)
    series_by_shard.push_back({.shard = shard, .series = count});
  return series_by_shard;
}

Task<storage::PinnedSeries> SamplePointStore::lookup(std::shared_ptr<const storage::Selection>,
                                                     std::size_t) {
  co_return not_offered();
}

Task<storage::PinnedLastPoints> SamplePointStore::last(std::shared_ptr<const storage::Selection>,
                                                       TimeRange) {
  co_return not_offered();
}

Task<std::uint64_t> SamplePointStore::delete_range(std::shared_ptr<const storage::Selection>,
                                                   TimeRange) {
  co_return not_offered();
}

Task<std::vector<std::string>> SamplePointStore::suggest(storage::NameKind, std::string,
                                                         std::size_t) {
  co_return not_offered();
}

Task<void> SamplePointStore::flush() { co_return not_offered(); }
Task<void> SamplePointStore::seal() { co_return not_offered(); }

}  // namespace halite::test
