// Encodes a series and a time as row key, qualifier and value, and decodes them; pure functions.
//
// OpentsdbLayout is compatible with OpenTSDB 2.4; CyclicLayout uses slots again. Formats:
// docs/formats/opentsdb-layout.md, docs/formats/cyclic-layout.md.
//
//   Threads  call from any thread; all calls are const.
//   Errors   kCorruption: stored bytes that no version of the format explains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/data_point.h"
#include "common/result.h"
#include "storage/api/cells.h"
#include "storage/api/wide_column.h"

namespace halite::storage {

// Bytes of a uid in keys, 1 to 8 each. Fixed once a table contains data.
struct UidWidths {
  std::uint8_t metric = 3;
  std::uint8_t tag_key = 3;
  std::uint8_t tag_value = 3;
  bool operator==(const UidWidths&) const = default;
};

struct PointCell {
  Bytes qualifier;
  Bytes value;
};

// The contents of a row key.
struct RowId {
  std::uint32_t salt = 0;
  Bytes tsuid;
  std::int64_t bucket = 0;  // opentsdb: base time in seconds; cyclic: slot number
};

// Rows to scan for one bucket of time. Scan buckets in the returned order to get each series'
// points in time order.
struct BucketScan {
  KeyRange keys;
  Bytes qualifier_begin;  // as in ScanSpec
  Bytes qualifier_end;
  TimeRange times;  // the part of the range that this bucket can contain
};

// A row's points in strict time order.
struct RowPoints {
  std::vector<TimestampMs> times;
  std::vector<ValueBits> values;
  std::vector<std::uint8_t> flags;  // PointFlag bits
  void clear() {
    times.clear();
    values.clear();
    flags.clear();
  }
};

class RowLayout {
 public:
  virtual ~RowLayout() = default;

  [[nodiscard]] virtual std::uint32_t salt_buckets() const = 0;  // 1 if rows are not salted
  [[nodiscard]] virtual std::uint32_t salt_of(BytesView tsuid) const = 0;
  [[nodiscard]] virtual const UidWidths& widths() const = 0;
  // The offset in a row key of the pairs of tag key and tag value, which end the key.
  [[nodiscard]] virtual std::size_t pairs_at() const = 0;

  // The place of a point. Its time must be one that admit() accepts.
  [[nodiscard]] virtual Bytes row_key(BytesView tsuid, TimestampMs time) const = 0;
  [[nodiscard]] virtual PointCell point_cell(TimestampMs time, ValueBits value,
                                             std::uint8_t flags) const = 0;

  // The time that one row covers: a range divided by it is about the number of rows of a series. If
  // that is large, one metric_buckets() scan with a row filter is cheaper.
  [[nodiscard]] virtual std::int64_t bucket_span_ms() const = 0;

  // Buckets that can contain points of `range`, oldest first: every row of a metric in one salt, or
  // the rows of one series. `now` decides what has expired.
  [[nodiscard]] virtual std::vector<BucketScan> metric_buckets(BytesView metric_uid,
                                                               TimeRange range, std::uint32_t salt,
                                                               TimestampMs now) const = 0;
  [[nodiscard]] virtual std::vector<BucketScan> series_buckets(BytesView tsuid, TimeRange range,
                                                               TimestampMs now) const = 0;

  [[nodiscard]] virtual Result<RowId> parse_row(BytesView row) const = 0;

  // Appends the points of `cells` (of one row, in qualifier order) that lie in `range`. Of cells
  // with equal times, the one with the newest cell time wins. Ignores cells without points. `cells`
  // may be a part of a row.
  [[nodiscard]] virtual Result<void> decode(const RowId& row, std::span<const CellRef> cells,
                                            TimeRange range, RowPoints& out) const = 0;

  // Whether a row's cells, in qualifier order, are in strict time order: then you may decode a row
  // in parts. Otherwise pass decode() whole rows.
  [[nodiscard]] virtual bool pieces_in_time_order() const { return false; }

  // Whether a point of this time may be stored now; the error names the limit.
  [[nodiscard]] virtual Result<void> admit(TimestampMs time, TimestampMs now) const = 0;
};

}  // namespace halite::storage
