// The layout of OpenTSDB 2.4, byte for byte (docs/formats/opentsdb-layout.md).
//
//   row key    salt(0-8) · metric uid · hour(4, seconds, unsigned) · (tagk uid · tagv uid)...
//   cells      one for each point; compacted and append columns are also read
//
// It deviates from two accidents of OpenTSDB: two cells of one time are never an error (the newest
// wins), and a time after 2106-02-07, whose hour does not fit four bytes, is refused instead of
// wrapped.
//
//   decode   pass it whole rows, because the order of second and millisecond qualifiers is not the
//            time order. Ignores cells with an odd or empty qualifier that are no append column
//            (annotations, histograms). After an error `out` contains some of the points.
//   row_key, point_cell   require a time that admit() accepts.
#pragma once

#include <algorithm>
#include <memory>

#include "storage/cells/layouts/row_layout.h"
#include "storage/cells/layouts/table_parameters.h"

namespace halite::storage {

// The first millisecond whose second does not fit the four bytes of a row key.
inline constexpr TimestampMs kRowTimeEndMs = (TimestampMs{1} << 32) * 1000;

// The part of the range that row keys can hold; empty if there is none.
[[nodiscard]] inline TimeRange clip_to_row_times(TimeRange range) {
  return {std::max<TimestampMs>(range.begin, 0), std::min(range.end, kRowTimeEndMs)};
}

struct OpentsdbOptions {
  UidWidths widths;
  std::uint8_t salt_width = 0;  // bytes, 0 to 8; 0 = no salt
  // 1 to 2^31 - 1; ignored without a salt width. Numbers with equal low bytes share a salt.
  std::uint32_t salt_buckets = 20;
};

class OpentsdbLayout final : public RowLayout {
 public:
  // kInvalidArgument: a width or a number of buckets is out of range.
  static Result<std::unique_ptr<OpentsdbLayout>> make(const OpentsdbOptions& options);

  [[nodiscard]] std::uint32_t salt_buckets() const override;
  [[nodiscard]] std::uint32_t salt_of(BytesView tsuid) const override;
  [[nodiscard]] const UidWidths& widths() const override { return options_.widths; }
  [[nodiscard]] std::size_t pairs_at() const override;
  [[nodiscard]] Bytes row_key(BytesView tsuid, TimestampMs time) const override;
  [[nodiscard]] PointCell point_cell(TimestampMs time, ValueBits value,
                                     std::uint8_t flags) const override;
  [[nodiscard]] std::int64_t bucket_span_ms() const override;
  [[nodiscard]] std::vector<BucketScan> metric_buckets(BytesView metric_uid, TimeRange range,
                                                       std::uint32_t salt,
                                                       TimestampMs now) const override;
  [[nodiscard]] std::vector<BucketScan> series_buckets(BytesView tsuid, TimeRange range,
                                                       TimestampMs now) const override;
  [[nodiscard]] Result<RowId> parse_row(BytesView row) const override;
  [[nodiscard]] Result<void> decode(const RowId& row, std::span<const CellRef> cells,
                                    TimeRange range, RowPoints& out) const override;
  [[nodiscard]] Result<void> admit(TimestampMs time, TimestampMs now) const override;

  [[nodiscard]] TableParameters parameters() const;
  [[nodiscard]] const OpentsdbOptions& options() const { return options_; }

  // The key of the row with this RowId.
  [[nodiscard]] Bytes key_of(const RowId& row) const;

 private:
  explicit OpentsdbLayout(const OpentsdbOptions& options) : options_(options) {}
  // base_s must fit four bytes.
  [[nodiscard]] Bytes key(std::uint32_t salt, BytesView tsuid, std::int64_t base_s) const;

  OpentsdbOptions options_;  // set at construction
};

}  // namespace halite::storage
