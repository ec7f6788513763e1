// The layout with row keys that are used again (docs/formats/cyclic-layout.md).
//
//   row key    salt(1) · slot(4) · metric uid · (tagk uid · tagv uid)...
//   qualifier  period(4) · kind(1) · offset in the span(4, ms)
//   value      cyclic_value.h
//
// A slot is a span of time; period = time / span. In a table made with a TTL (a ring), slot =
// period mod N; in a table made without, slot = period. Each cell contains its period and scans
// read one period only, so cells of an earlier period of the slot are never returned.
//
//   now      points before now - TTL are expired, points after now + ahead_max_ms() are ignored:
//            buckets are limited to the times between.
//   decode   pass it a bucket's `times`; it reads that range without a clock.
//   row_key, point_cell   require a time that admit() accepts.
#pragma once

#include <memory>
#include <string_view>

#include "common/units.h"
#include "storage/cells/layouts/row_layout.h"
#include "storage/cells/layouts/table_parameters.h"

namespace halite::storage {

struct CyclicOptions {
  UidWidths widths;
  std::uint32_t salt_buckets = 16;      // 1 to 256
  std::int64_t span_ms = kDayMs;        // of a slot, 1 minute to 24 days
  std::uint32_t slots = 1024;           // N of a ring, 1 to 2^24
  std::int64_t ttl_ms = 0;              // 0 = no expiry
  std::int64_t future_max_ms = kDayMs;  // with a TTL: how far ahead of the clock a point may be
  // As future_max_ms, without a TTL.
  std::int64_t forecast_max_ms = 3650 * kDayMs;
  std::int64_t cleaning_ms = kDayMs;  // time after which the cells of an expired slot are deleted
  // The table was made without a TTL: slots are used once even with a TTL now. Set by
  // options_for().
  bool never_reuse = false;
  std::string_view ttl_setting = "storage.ttl_ms";  // name of the TTL setting, for messages
};

class CyclicLayout final : public RowLayout {
 public:
  // kInvalidArgument: an option is out of range, or the ring is too small for its TTL:
  //   N · span >= ttl + future_max + cleaning + 2 · span
  static Result<std::unique_ptr<CyclicLayout>> make(const CyclicOptions& options);

  // The options to open an existing table with: `configured`, unless the table was made otherwise
  // (kInvalidArgument). A table made without a TTL may get one; a ring cannot lose it.
  static Result<CyclicOptions> options_for(CyclicOptions configured, const TableParameters& stored);

  [[nodiscard]] TableParameters parameters() const;
  [[nodiscard]] const CyclicOptions& options() const { return options_; }

  [[nodiscard]] std::uint32_t salt_buckets() const override { return options_.salt_buckets; }
  [[nodiscard]] std::uint32_t salt_of(BytesView tsuid) const override;
  [[nodiscard]] const UidWidths& widths() const override { return options_.widths; }
  [[nodiscard]] std::size_t pairs_at() const override;
  [[nodiscard]] Bytes row_key(BytesView tsuid, TimestampMs time) const override;
  [[nodiscard]] PointCell point_cell(TimestampMs time, ValueBits value,
                                     std::uint8_t flags) const override;
  [[nodiscard]] std::int64_t bucket_span_ms() const override { return options_.span_ms; }
  [[nodiscard]] std::vector<BucketScan> metric_buckets(BytesView metric_uid, TimeRange range,
                                                       std::uint32_t salt,
                                                       TimestampMs now) const override;
  [[nodiscard]] std::vector<BucketScan> series_buckets(BytesView tsuid, TimeRange range,
                                                       TimestampMs now) const override;
  [[nodiscard]] Result<RowId> parse_row(BytesView row) const override;
  [[nodiscard]] Result<void> decode(const RowId& row, std::span<const CellRef> cells,
                                    TimeRange range, RowPoints& out) const override;
  [[nodiscard]] bool pieces_in_time_order() const override { return true; }
  [[nodiscard]] Result<void> admit(TimestampMs time, TimestampMs now) const override;

  // How far ahead of the clock a point may be. With a TTL it is little, because slots are used
  // again and a wrong clock must be detectable by its distance to the newest point.
  [[nodiscard]] std::int64_t ahead_max_ms() const {
    return options_.ttl_ms > 0 ? options_.future_max_ms : options_.forecast_max_ms;
  }

  // The slot of a period.
  [[nodiscard]] std::uint32_t slot_of(std::int64_t period) const;
  // Length of the ring; 0 = slots are used once, and a slot's number is its period.
  [[nodiscard]] std::uint32_t ring_slots() const { return ring() ? options_.slots : 0; }
  // The greatest period up to `last` that has the slot; negative if there is none.
  [[nodiscard]] std::int64_t newest_period(std::uint32_t slot, std::int64_t last) const;

  // The part of `range` where points are neither expired nor too far ahead; may be empty.
  [[nodiscard]] TimeRange alive(TimeRange range, TimestampMs now) const;

 private:
  explicit CyclicLayout(const CyclicOptions& options) : options_(options) {}
  [[nodiscard]] bool ring() const { return options_.ttl_ms > 0 && !options_.never_reuse; }
  [[nodiscard]] Bytes key(std::uint32_t salt, std::uint32_t slot, BytesView tsuid) const;
  [[nodiscard]] TimestampMs time_end() const;  // the first time after the last period
  // One scan for each period of the range; `keys` fills in the keys.
  template <class Keys>
  std::vector<BucketScan> buckets(TimeRange range, TimestampMs now, Keys keys) const;

  CyclicOptions options_;  // set at construction
};

}  // namespace halite::storage
