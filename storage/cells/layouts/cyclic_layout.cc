#include "storage/cells/layouts/cyclic_layout.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "common/check.h"
#include "storage/cells/layouts/corruption.h"
#include "storage/cells/layouts/cyclic_options.h"
#include "storage/cells/layouts/point_merge.h"
#include "storage/cells/layouts/salt.h"
#include "storage/cells/layouts/tsuid.h"
#include "storage/cells/layouts/values/cyclic_value.h"

namespace halite::storage {
namespace {

constexpr std::size_t kSaltBytes = 1;
constexpr std::size_t kSlotBytes = 4;
constexpr std::size_t kPointQualifierBytes = 4 + 1 + 4;
constexpr char kPointKind = 0;  // the only kind of cell
constexpr TimestampMs kNever = std::numeric_limits<TimestampMs>::max();

// now + later, limited to the largest time; both are at least 0.
TimestampMs add(TimestampMs now, std::int64_t later) {
  return now > kNever - later ? kNever : now + later;
}

Bytes qualifier(std::int64_t period, std::uint32_t offset_ms) {
  Bytes bytes;
  bytes.reserve(kPointQualifierBytes);
  append_be<std::uint32_t>(bytes, static_cast<std::uint32_t>(period));
  bytes.push_back(kPointKind);
  append_be<std::uint32_t>(bytes, offset_ms);
  return bytes;
}

}  // namespace

Result<std::unique_ptr<CyclicLayout>> CyclicLayout::make(const CyclicOptions& options) {
  TRY_VOID(check_cyclic_options(options));
  return std::unique_ptr<CyclicLayout>(new CyclicLayout(options));
}

Result<CyclicOptions> CyclicLayout::options_for(CyclicOptions configured,
                                                const TableParameters& stored) {
  const bool made_as_ring = stored.slots != 0;
  if (made_as_ring && configured.ttl_ms == 0) {
    return fail(Errc::kInvalidArgument,
                fmt::format("the table was created with a ring of {} slots, so "
                            "storage.ttl_ms cannot be 0 (forever)",
                            stored.slots));
  }
  configured.never_reuse = !made_as_ring;
  TRY_VOID(check_same_table(stored, cyclic_parameters(configured)));
  return configured;
}

TableParameters CyclicLayout::parameters() const { return cyclic_parameters(options_); }

std::uint32_t CyclicLayout::salt_of(BytesView tsuid) const {
  return cyclic_salt(tsuid, options_.salt_buckets);
}

std::uint32_t CyclicLayout::slot_of(std::int64_t period) const {
  return static_cast<std::uint32_t>(ring() ? period % options_.slots : period);
}

std::int64_t CyclicLayout::newest_period(std::uint32_t slot, std::int64_t last) const {
  if (slot > last) return -1;
  return ring() ? last - (last - slot) % options_.slots : slot;
}

TimestampMs CyclicLayout::time_end() const { return (std::int64_t{1} << 32) * options_.span_ms; }

std::size_t CyclicLayout::pairs_at() const {
  return kSaltBytes + kSlotBytes + options_.widths.metric;
}

Bytes CyclicLayout::key(std::uint32_t salt, std::uint32_t slot, BytesView tsuid) const {
  Bytes key;
  key.reserve(kSaltBytes + kSlotBytes + tsuid.size());
  append_be<std::uint8_t>(key, static_cast<std::uint8_t>(salt));
  append_be<std::uint32_t>(key, slot);
  key += tsuid;
  return key;
}

Bytes CyclicLayout::row_key(BytesView tsuid, TimestampMs time) const {
  HALITE_CHECK(time >= 0 && time < time_end(), "a point is admitted before it is written");
  return key(salt_of(tsuid), slot_of(time / options_.span_ms), tsuid);
}

PointCell CyclicLayout::point_cell(TimestampMs time, ValueBits value, std::uint8_t flags) const {
  HALITE_CHECK(time >= 0 && time < time_end(), "a point is admitted before it is written");
  return {qualifier(time / options_.span_ms, static_cast<std::uint32_t>(time % options_.span_ms)),
          cyclic_value(value, flags)};
}

TimeRange CyclicLayout::alive(TimeRange range, TimestampMs now) const {
  now = std::max<TimestampMs>(now, 0);
  const TimestampMs oldest =
      options_.ttl_ms == 0 ? 0 : std::max<TimestampMs>(now - options_.ttl_ms, 0);
  const TimestampMs end = std::min(add(add(now, ahead_max_ms()), 1), time_end());
  return {std::max(range.begin, oldest), std::min(range.end, end)};
}

template <class Keys>
std::vector<BucketScan> CyclicLayout::buckets(TimeRange range, TimestampMs now, Keys keys) const {
  const TimeRange times = alive(range, now);
  if (times.begin >= times.end) return {};
  const std::int64_t span = options_.span_ms;
  const std::int64_t first = times.begin / span;
  const std::int64_t last = (times.end - 1) / span;
  std::vector<BucketScan> scans;
  scans.reserve(static_cast<std::size_t>(last - first + 1));
  for (std::int64_t period = first; period <= last; ++period) {
    const TimestampMs begin = period * span;
    BucketScan scan;
    scan.times = {std::max(times.begin, begin), std::min(times.end, begin + span)};
    scan.keys = keys(slot_of(period));
    scan.qualifier_begin = qualifier(period, static_cast<std::uint32_t>(scan.times.begin - begin));
    scan.qualifier_end = qualifier(period, static_cast<std::uint32_t>(scan.times.end - begin));
    scans.push_back(std::move(scan));
  }
  return scans;
}

std::vector<BucketScan> CyclicLayout::metric_buckets(BytesView metric_uid, TimeRange range,
                                                     std::uint32_t salt, TimestampMs now) const {
  return buckets(range, now, [&](std::uint32_t slot) {
    Bytes begin = key(salt, slot, metric_uid);
    Bytes end = prefix_end(begin);
    return KeyRange{std::move(begin), std::move(end)};
  });
}

std::vector<BucketScan> CyclicLayout::series_buckets(BytesView tsuid, TimeRange range,
                                                     TimestampMs now) const {
  const std::uint32_t salt = salt_of(tsuid);
  return buckets(range, now, [&](std::uint32_t slot) {
    Bytes begin = key(salt, slot, tsuid);
    Bytes end = begin;
    end.push_back('\0');
    return KeyRange{std::move(begin), std::move(end)};
  });
}

Result<RowId> CyclicLayout::parse_row(BytesView row) const {
  const std::size_t fixed = kSaltBytes + kSlotBytes;
  if (row.size() < fixed || !is_tsuid_length(options_.widths, row.size() - fixed)) {
    return fail(Errc::kCorruption, fmt::format("row {}: {} bytes is not the length of a data row",
                                               to_hex(row), row.size()));
  }
  RowId id;
  id.salt = load_be<std::uint8_t>(row.data());
  const auto slot = load_be<std::uint32_t>(row.data() + kSaltBytes);
  id.bucket = slot;
  id.tsuid = row.substr(fixed);
  if (id.salt >= options_.salt_buckets) {
    return fail(Errc::kCorruption, fmt::format("row {}: salt {} of {} buckets", to_hex(row),
                                               id.salt, options_.salt_buckets));
  }
  if (ring() && slot >= options_.slots) {
    return fail(Errc::kCorruption,
                fmt::format("row {}: slot {} of {}", to_hex(row), slot, options_.slots));
  }
  return id;
}

Result<void> CyclicLayout::decode(const RowId& row, std::span<const CellRef> cells, TimeRange range,
                                  RowPoints& out) const {
  const auto corrupt = [&](const CellRef& cell, std::string_view what) {
    return corrupt_cell(key(row.salt, static_cast<std::uint32_t>(row.bucket), row.tsuid), cell,
                        what);
  };
  PointMerge merge(out);
  for (const CellRef& cell : cells) {
    const std::size_t size = cell.qualifier.size();
    if (size != kPointQualifierBytes || cell.qualifier[4] != kPointKind) {
      return corrupt(cell, "invalid qualifier");
    }
    const auto period = std::int64_t{load_be<std::uint32_t>(cell.qualifier.data())};
    const auto offset = std::int64_t{load_be<std::uint32_t>(cell.qualifier.data() + 5)};
    if (slot_of(period) != row.bucket) return corrupt(cell, "a generation of another slot");
    if (offset >= options_.span_ms) return corrupt(cell, "an offset past the slot's span");
    const TimestampMs time = period * options_.span_ms + offset;
    if (time < range.begin || time >= range.end) continue;
    const auto value = read_cyclic_value(cell.value);
    if (!value) return corrupt(cell, "invalid value");
    merge.add(time, value->bits, value->flags, cell.time);
  }
  merge.finish();
  return {};
}

Result<void> CyclicLayout::admit(TimestampMs time, TimestampMs now) const {
  const TimeRange all{0, time_end()};
  if (time < all.begin || time >= all.end) {
    return fail(Errc::kInvalidArgument,
                fmt::format("timestamp {} is outside the range of slots of {}", time,
                            duration_text(options_.span_ms)));
  }
  const TimeRange taken = alive(all, now);
  if (time < taken.begin) {
    return fail(Errc::kInvalidArgument,
                fmt::format("timestamp {} is older than the retention of {} ({})", time,
                            duration_text(options_.ttl_ms), options_.ttl_setting));
  }
  if (time >= taken.end) {
    const std::string limit =
        options_.ttl_ms > 0
            ? fmt::format("storage.future_max_ms, for {} is set", options_.ttl_setting)
            : std::string("storage.forecast_max_ms");
    return fail(Errc::kInvalidArgument,
                fmt::format("timestamp {} is more than {} ahead of the server's clock ({})", time,
                            duration_text(ahead_max_ms()), limit));
  }
  return {};
}

}  // namespace halite::storage
