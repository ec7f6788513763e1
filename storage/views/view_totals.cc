#include "storage/views/view_totals.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "common/gather.h"

namespace halite::storage {
namespace {

TotalsRequest request_for(const std::vector<WantedTotals>& wanted) {
  TotalsRequest request;
  for (const WantedTotals& one : wanted) {
    if (one.rule->functions.sketch) return {};  // only points tell their distribution
    request.bucket_ms = std::gcd(request.bucket_ms, one.rule->interval_ms);
    request.sums = request.sums || one.rule->functions.sum;
  }
  return request;
}

Task<std::vector<GroupTotals>> read_shard(TotalsReading* reading, std::uint32_t shard,
                                          std::atomic<std::size_t>* all_bytes) {
  std::vector<GroupTotals> totals;
  for (const WantedTotals& one : reading->wanted) {
    totals.emplace_back(*one.rule, reading->widths, one.range);
  }
  const std::unique_ptr<BlockScan> scan = reading->points.scan_totals(
      reading->selection, reading->range, shard, request_for(reading->wanted));
  std::size_t bytes = 0;
  while (true) {
    auto next = scan->next();
    CO_TRY(const std::vector<Block> blocks, co_await std::move(next));
    if (blocks.empty()) break;
    std::uint64_t read = 0;
    for (const Block& block : blocks) {
      const Series& series = reading->points.series(block.series);
      for (GroupTotals& one : totals) one.add(series, block);
      read += block.size() + block.totals.size();
    }
    reading->points_read += read;
    const std::size_t before = std::exchange(bytes, 0);
    for (const GroupTotals& one : totals) bytes += one.bytes();
    *all_bytes += bytes - before;
    if (*all_bytes > reading->bytes_max) {
      co_return fail(
          Errc::kTooLarge,
          fmt::format("the groups of a view exceed the limit of {} bytes", reading->bytes_max));
    }
  }
  co_return totals;
}

}  // namespace

Bytes group_of(const ViewRule& rule, const UidWidths& widths, const Series& series) {
  if (!rule.group_by) return series.tsuid;
  Bytes group(series.tsuid.metric());
  for (const SeriesTag& tag : series.tags) {
    if (!std::ranges::binary_search(*rule.group_by, tag.key)) continue;
    append_be_width(group, tag.key_uid, widths.tag_key);
    append_be_width(group, tag.value_uid, widths.tag_value);
  }
  return group;
}

std::vector<BucketTotals>& GroupTotals::buckets_of(const Series& series) {
  const auto [known, is_new] = by_series_.try_emplace(series.id, nullptr);
  if (is_new) {
    std::vector<BucketTotals>& buckets = groups_[group_of(*rule_, widths_, series)];
    if (buckets.empty()) buckets.resize(bucket_count());
    known->second = &buckets;
  }
  return *known->second;
}

void GroupTotals::add(const Series& series, const Block& block) {
  if (block.times.empty() && block.totals.empty()) return;
  std::vector<BucketTotals>& buckets = buckets_of(series);
  const auto bucket_at = [&](TimestampMs time) -> BucketTotals* {
    if (time < range_.begin || time >= range_.end) return nullptr;
    return &buckets[static_cast<std::size_t>((time - range_.begin) / rule_->interval_ms)];
  };
  for (const SpanTotals& span : block.totals) {
    if (BucketTotals* const bucket = bucket_at(span.begin)) {
      bucket->add(
          {.any = true, .count = span.count, .sum = span.sum, .min = span.min, .max = span.max});
    }
  }
  for (std::size_t i = 0; i < block.size(); ++i) {
    BucketTotals* const bucket = bucket_at(block.times[i]);
    if (bucket == nullptr) continue;
    const double number = block.floats[i] ? as_double(block.values[i])
                                          : static_cast<double>(as_integer(block.values[i]));
    bucket->add(number);
    if (!rule_->functions.sketch) continue;
    sketch_bytes_ -= bucket->sketch.bytes();
    bucket->sketch.add(number);
    sketch_bytes_ += bucket->sketch.bytes();
  }
}

void GroupTotals::add(GroupTotals&& more) {
  for (auto& [group, buckets] : more.groups_) {
    const auto [known, is_new] = groups_.try_emplace(group, std::move(buckets));
    if (is_new) continue;
    for (std::size_t i = 0; i < buckets.size(); ++i) known->second[i].add(buckets[i]);
  }
  sketch_bytes_ += more.sketch_bytes_;  // at most
}

std::size_t GroupTotals::bytes() const {
  constexpr std::size_t kGroupBytes = 160;
  constexpr std::size_t kSeriesBytes = 24;
  return groups_.size() * (kGroupBytes + bucket_count() * sizeof(BucketTotals)) +
         by_series_.size() * kSeriesBytes + sketch_bytes_;
}

Task<std::vector<GroupTotals>> read_totals(TotalsReading& reading) {
  std::atomic<std::size_t> bytes = 0;
  std::vector<Task<std::vector<GroupTotals>>> tasks;
  for (const ShardSeriesCount& share : reading.points.series_by_shard(*reading.selection)) {
    tasks.push_back(read_shard(&reading, share.shard, &bytes));
  }
  const std::size_t count = tasks.size();
  auto gathering = gather(std::move(tasks), std::max<std::size_t>(1, count));
  std::vector<Result<std::vector<GroupTotals>>> shards = co_await std::move(gathering);
  std::vector<GroupTotals> totals;
  for (const WantedTotals& one : reading.wanted) {
    totals.emplace_back(*one.rule, reading.widths, one.range);
  }
  for (Result<std::vector<GroupTotals>>& shard : shards) {
    CO_TRY(std::vector<GroupTotals> some, std::move(shard));
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i].add(std::move(some[i]));
  }
  co_return totals;
}

}  // namespace halite::storage
