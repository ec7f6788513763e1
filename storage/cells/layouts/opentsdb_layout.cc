#include "storage/cells/layouts/opentsdb_layout.h"

#include <limits>

#include <fmt/format.h>

#include "common/check.h"
#include "storage/cells/layouts/column.h"
#include "storage/cells/layouts/corruption.h"
#include "storage/cells/layouts/plain_cells.h"
#include "storage/cells/layouts/point_merge.h"
#include "storage/cells/layouts/salt.h"
#include "storage/cells/layouts/tsuid.h"

namespace halite::storage {
namespace {

constexpr std::size_t kBaseBytes = 4;
std::int64_t base_seconds(TimestampMs time) {
  const std::int64_t seconds = time / 1000;
  return seconds - seconds % kRowSeconds;
}

// The number of salts that this many bytes can distinguish, limited to 32 bits.
std::uint32_t salts_of_width(unsigned width) {
  return width < 4 ? 1u << (8 * width) : std::numeric_limits<std::uint32_t>::max();
}

bool all_zero(BytesView bytes) {
  return std::ranges::all_of(bytes, [](char c) { return c == 0; });
}

}  // namespace

Result<std::unique_ptr<OpentsdbLayout>> OpentsdbLayout::make(const OpentsdbOptions& options) {
  TRY_VOID(check_widths(options.widths));
  if (options.salt_width > 8) {
    return fail(Errc::kInvalidArgument,
                fmt::format("the salt width must be 0 to 8 bytes, found {}", options.salt_width));
  }
  if (options.salt_buckets < 1 || options.salt_buckets > std::numeric_limits<std::int32_t>::max()) {
    return fail(Errc::kInvalidArgument,
                fmt::format("the salt buckets must be 1 to {}, found {}",
                            std::numeric_limits<std::int32_t>::max(), options.salt_buckets));
  }
  return std::unique_ptr<OpentsdbLayout>(new OpentsdbLayout(options));
}

TableParameters OpentsdbLayout::parameters() const {
  TableParameters parameters;
  parameters.layout = kOpentsdbLayout;
  parameters.widths = options_.widths;
  parameters.salt_width = options_.salt_width;
  parameters.salt_buckets = options_.salt_width == 0 ? 1 : options_.salt_buckets;
  return parameters;
}

std::uint32_t OpentsdbLayout::salt_buckets() const {
  return std::min(options_.salt_buckets, salts_of_width(options_.salt_width));
}

std::uint32_t OpentsdbLayout::salt_of(BytesView tsuid) const {
  // Rows of metric zero belong to no series (global annotations) and are never salted.
  if (options_.salt_width == 0 || all_zero(tsuid.substr(0, options_.widths.metric))) return 0;
  return opentsdb_salt(tsuid, options_.salt_buckets) % salts_of_width(options_.salt_width);
}

std::size_t OpentsdbLayout::pairs_at() const {
  return std::size_t{options_.salt_width} + options_.widths.metric + kBaseBytes;
}

Bytes OpentsdbLayout::key(std::uint32_t salt, BytesView tsuid, std::int64_t base_s) const {
  Bytes key;
  key.reserve(options_.salt_width + tsuid.size() + kBaseBytes);
  append_opentsdb_salt(key, salt, options_.salt_width);
  key += tsuid.substr(0, options_.widths.metric);
  append_be<std::uint32_t>(key, static_cast<std::uint32_t>(base_s));
  if (tsuid.size() > options_.widths.metric) key += tsuid.substr(options_.widths.metric);
  return key;
}

Bytes OpentsdbLayout::key_of(const RowId& row) const {
  return key(row.salt, row.tsuid, row.bucket);
}

Bytes OpentsdbLayout::row_key(BytesView tsuid, TimestampMs time) const {
  HALITE_CHECK(time >= 0 && time < kRowTimeEndMs, "a point is admitted before it is written");
  return key(salt_of(tsuid), tsuid, base_seconds(time));
}

PointCell OpentsdbLayout::point_cell(TimestampMs time, ValueBits value, std::uint8_t flags) const {
  HALITE_CHECK(time >= 0 && time < kRowTimeEndMs, "a point is admitted before it is written");
  return compacted_cell(base_seconds(time) * 1000, {&time, 1}, {&value, 1}, {&flags, 1});
}

std::int64_t OpentsdbLayout::bucket_span_ms() const { return kRowMs; }

std::vector<BucketScan> OpentsdbLayout::metric_buckets(BytesView metric_uid, TimeRange range,
                                                       std::uint32_t salt, TimestampMs) const {
  const TimeRange times = clip_to_row_times(range);
  if (times.begin >= times.end) return {};
  // The hour follows the metric in the key, so one scan returns each series' rows in time order.
  BucketScan scan;
  scan.times = times;
  scan.keys.begin = key(salt, metric_uid, base_seconds(times.begin));
  scan.keys.end = prefix_end(key(salt, metric_uid, base_seconds(times.end - 1)));
  return {std::move(scan)};
}

std::vector<BucketScan> OpentsdbLayout::series_buckets(BytesView tsuid, TimeRange range,
                                                       TimestampMs) const {
  const TimeRange times = clip_to_row_times(range);
  if (times.begin >= times.end) return {};
  const std::uint32_t salt = salt_of(tsuid);
  const std::int64_t first = base_seconds(times.begin);
  const std::int64_t last = base_seconds(times.end - 1);
  std::vector<BucketScan> scans;
  scans.reserve(static_cast<std::size_t>((last - first) / kRowSeconds + 1));
  for (std::int64_t base = first; base <= last; base += kRowSeconds) {
    BucketScan scan;
    scan.keys.begin = key(salt, tsuid, base);
    scan.keys.end = scan.keys.begin;
    scan.keys.end.push_back('\0');
    scan.times = {std::max(times.begin, base * 1000), std::min(times.end, base * 1000 + kRowMs)};
    scans.push_back(std::move(scan));
  }
  return scans;
}

Result<RowId> OpentsdbLayout::parse_row(BytesView row) const {
  const std::size_t base_at = options_.salt_width + std::size_t{options_.widths.metric};
  const std::size_t fixed = options_.salt_width + kBaseBytes;
  if (row.size() < base_at + kBaseBytes || !is_tsuid_length(options_.widths, row.size() - fixed)) {
    return fail(Errc::kCorruption, fmt::format("row {}: {} bytes is not the length of a data row",
                                               to_hex(row), row.size()));
  }
  RowId id;
  const BytesView salt_bytes = row.substr(0, options_.salt_width);
  const std::size_t low_bytes = std::min<std::size_t>(salt_bytes.size(), 4);
  id.salt =
      static_cast<std::uint32_t>(load_be_width(salt_bytes.substr(salt_bytes.size() - low_bytes)));
  Bytes expected;
  append_opentsdb_salt(expected, id.salt, options_.salt_width);
  if (id.salt >= salt_buckets() || salt_bytes != expected) {
    return fail(Errc::kCorruption, fmt::format("row {}: salt bytes {} are not one of {} salts",
                                               to_hex(row), to_hex(salt_bytes), salt_buckets()));
  }
  id.bucket = load_be<std::uint32_t>(row.data() + base_at);
  if (id.bucket % kRowSeconds != 0) {
    return fail(Errc::kCorruption, fmt::format("row {}: base time {} is not the start of an hour",
                                               to_hex(row), id.bucket));
  }
  id.tsuid = row.substr(options_.salt_width, options_.widths.metric);
  id.tsuid += row.substr(base_at + kBaseBytes);
  return id;
}

Result<void> OpentsdbLayout::decode(const RowId& row, std::span<const CellRef> cells,
                                    TimeRange range, RowPoints& out) const {
  const TimestampMs base_ms = row.bucket * 1000;
  if (read_plain_cells(base_ms, cells, range, out)) return {};
  PointMerge merge(out);
  for (const CellRef& cell : cells) {
    auto reader = ColumnReader::open(cell.qualifier, cell.value);
    if (!reader) continue;
    ColumnPoint point;
    ColumnReader::Step step;
    while ((step = reader->next(point)) == ColumnReader::Step::kPoint) {
      const TimestampMs time = base_ms + point.qualifier.offset_ms;
      if (time < range.begin || time >= range.end) continue;
      merge.add(time, point.value.bits, point_flags(point), cell.time);
    }
    if (step == ColumnReader::Step::kCorrupt) {
      return corrupt_cell(key_of(row), cell, reader->problem());
    }
  }
  merge.finish();
  return {};
}

Result<void> OpentsdbLayout::admit(TimestampMs time, TimestampMs) const {
  if (time >= 0 && time < kRowTimeEndMs) return {};
  return fail(Errc::kInvalidArgument,
              fmt::format("timestamp {} is outside the range of OpenTSDB's row keys: 0 to {}", time,
                          kRowTimeEndMs - 1));
}

}  // namespace halite::storage
