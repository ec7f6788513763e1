#include "storage/cells/scan_split.h"

#include <algorithm>
#include <span>
#include <utility>

namespace halite::storage {
namespace {

// The number of a shard's series that are sampled to find the distribution.
constexpr std::size_t kSample = 1024;
// An unsplit scan is one range whatever its length; a part has a range for each bucket.
constexpr std::size_t kBucketsMax = 1000;

std::vector<Bytes> sample_of(const SeriesTable& table, std::span<const SeriesId> ids) {
  std::vector<Bytes> tsuids;
  const std::size_t step = ids.size() / kSample + 1;
  for (std::size_t i = 0; i < ids.size(); i += step) tsuids.push_back(table.at(ids[i]).tsuid);
  std::ranges::sort(tsuids);
  return tsuids;
}

}  // namespace

std::vector<SeriesRange> split_scan(const ScanSplitOptions& options, const SeriesRegistry& registry,
                                    const RowSelection& selection, std::size_t buckets,
                                    std::uint32_t shard, std::uint32_t shards) {
  std::vector<SeriesRange> spans(1);
  if (options.splits_max <= shards || buckets > kBucketsMax || selection.by_tsuid()) return spans;
  const RowSelection::Known known = selection.known();
  const std::span<const SeriesId> ids = known->of_shard(shard);
  const std::size_t count =
      std::min(options.splits_max / shards, ids.size() / options.split_series_min);
  if (count < 2) return spans;
  const std::vector<Bytes> sample = sample_of(registry.table(), ids);
  for (std::size_t part = 1; part < count; ++part) {
    const Bytes& cut = sample[part * sample.size() / count];
    if (cut == spans.back().begin) continue;
    spans.back().end = cut;
    spans.push_back({.begin = cut, .end = {}});
  }
  return spans;
}

std::vector<BucketScan> buckets_of_range(const RowLayout& layout, BytesView metric_uid,
                                         const SeriesRange& span, TimeRange range,
                                         std::uint32_t shard, TimestampMs now) {
  if (is_everything(span)) {
    return layout.metric_buckets(metric_uid, range, shard, now);
  }
  const auto first_key = [&](const Bytes& tsuid, TimeRange times) {
    return layout.series_buckets(tsuid, times, now).front().keys.begin;
  };
  std::vector<BucketScan> buckets;
  const Bytes& either = span.begin.empty() ? span.end : span.begin;
  for (const BucketScan& of_series : layout.series_buckets(either, range, now)) {
    for (BucketScan& bucket : layout.metric_buckets(metric_uid, of_series.times, shard, now)) {
      if (!span.begin.empty()) bucket.keys.begin = first_key(span.begin, of_series.times);
      if (!span.end.empty()) bucket.keys.end = first_key(span.end, of_series.times);
      buckets.push_back(std::move(bucket));
    }
  }
  return buckets;
}

}  // namespace halite::storage
