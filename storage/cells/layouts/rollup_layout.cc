#include "storage/cells/layouts/rollup_layout.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/check.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "storage/cells/layouts/point_merge.h"

namespace halite::storage {

Bytes RollupLayout::row_key(BytesView tsuid, TimestampMs time) const {
  return rows_->key_of({.salt = salt_of(tsuid),
                        .tsuid = Bytes(tsuid),
                        .bucket = rollup_base(interval_, time / 1000)});
}

PointCell RollupLayout::point_cell(TimestampMs time, ValueBits value, std::uint8_t flags) const {
  // The row does not matter here, so any metric will do.
  const Bytes tsuid(widths().metric, '\0');
  auto made = rollup_cell(*rows_, interval_, aggregator_.id, tsuid, time / 1000, value, flags);
  HALITE_CHECK(made, "a rollup is admitted before it is written");
  return std::move(made->cell);
}

std::int64_t RollupLayout::bucket_span_ms() const { return rollup_span_seconds(interval_) * 1000; }

std::vector<BucketScan> RollupLayout::metric_buckets(BytesView metric_uid, TimeRange range,
                                                     std::uint32_t salt, TimestampMs) const {
  const TimeRange times = clip_to_row_times(range);
  if (times.begin >= times.end) return {};
  BucketScan scan;
  scan.times = times;
  const auto key = [&](TimestampMs time) {
    return rows_->key_of(
        {.salt = salt, .tsuid = Bytes(metric_uid), .bucket = rollup_base(interval_, time / 1000)});
  };
  scan.keys.begin = key(times.begin);
  scan.keys.end = prefix_end(key(times.end - 1));
  return {std::move(scan)};
}

std::vector<BucketScan> RollupLayout::series_buckets(BytesView tsuid, TimeRange range,
                                                     TimestampMs) const {
  const TimeRange times = clip_to_row_times(range);
  if (times.begin >= times.end) return {};
  std::vector<BucketScan> scans;
  std::int64_t base = rollup_base(interval_, times.begin / 1000);
  while (base * 1000 < times.end) {
    const std::int64_t next = rollup_next_base(interval_, base);
    BucketScan scan;
    scan.keys.begin =
        rows_->key_of({.salt = salt_of(tsuid), .tsuid = Bytes(tsuid), .bucket = base});
    scan.keys.end = scan.keys.begin;
    scan.keys.end.push_back('\0');
    scan.times = {std::max(times.begin, base * 1000), std::min(times.end, next * 1000)};
    scans.push_back(std::move(scan));
    base = next;
  }
  return scans;
}

Result<void> RollupLayout::decode(const RowId& row, std::span<const CellRef> cells, TimeRange range,
                                  RowPoints& out) const {
  PointMerge merge(out);
  for (const CellRef& cell : cells) {
    const auto point = read_rollup(interval_, row.bucket, cell.qualifier, cell.value);
    if (!point) continue;
    const auto* const id = std::get_if<std::uint8_t>(&point->aggregator);
    const bool ours = id != nullptr
                          ? *id == aggregator_.id
                          : std::get<std::string_view>(point->aggregator) == aggregator_.name;
    const TimestampMs time = point->time_s * 1000;
    if (!ours || time < range.begin || time >= range.end) continue;
    merge.add(time, point->value.bits, point->value.flags, cell.time);
  }
  merge.finish();
  return {};
}

Result<void> RollupLayout::admit(TimestampMs time, TimestampMs) const {
  const Bytes tsuid(widths().metric, '\0');
  auto made = rollup_cell(*rows_, interval_, aggregator_.id, tsuid, time / 1000, 0, 0);
  if (!made) return std::unexpected(std::move(made).error());
  return {};
}

}  // namespace halite::storage
