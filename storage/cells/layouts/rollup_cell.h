// OpenTSDB's rollup tables: one cell for each series, aggregator and interval.
//
//   row        like a data row, but with the base time of the interval's span instead of the hour
//   qualifier  aggregator id(1) + ((intervals since the base << 4) | flags)(2)
//              before 2.4: the aggregator's name in lower case and ':' instead of the id
//   value      like a point's
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "storage/cells/layouts/opentsdb_layout.h"
#include "storage/cells/layouts/values/cell_value.h"

namespace halite::storage {

enum class RollupSpan : std::uint8_t { kHours, kDay, kMonth, kYear };  // calendar units in UTC

struct RollupInterval {
  std::int64_t seconds = 3600;  // of one cell
  RollupSpan span = RollupSpan::kDay;
  std::uint32_t hours = 1;  // in a row of kHours: 1 or an even number
};

// kInvalidArgument as in OpenTSDB: fewer than 12 or more than 7774 intervals in a row.
[[nodiscard]] Result<void> check_rollup(const RollupInterval& interval);

// The start of the row with this time; both in seconds since 1970, at least 0.
[[nodiscard]] std::int64_t rollup_base(const RollupInterval& interval, std::int64_t time_s);

// The start of the row after the one that starts at base_s.
[[nodiscard]] std::int64_t rollup_next_base(const RollupInterval& interval, std::int64_t base_s);

// The maximum length of a row, as OpenTSDB counts it.
[[nodiscard]] std::int64_t rollup_span_seconds(const RollupInterval& interval);

struct RollupCell {
  Bytes row;
  PointCell cell;
};

// aggregator: 0 to 127. kInvalidArgument if the time is outside the range of row keys, or its
// number in the row does not fit 12 bits (OpenTSDB would write a wrong number).
[[nodiscard]] Result<RollupCell> rollup_cell(const OpentsdbLayout& layout,
                                             const RollupInterval& interval,
                                             std::uint8_t aggregator, BytesView tsuid,
                                             std::int64_t time_s, ValueBits value,
                                             std::uint8_t flags);

struct RollupPoint {
  std::variant<std::uint8_t, std::string_view> aggregator;  // id, or the name in an older row
  std::int64_t time_s = 0;
  PointValue value;
};

// nullopt if the cell is no rollup. The name is a view of the qualifier.
[[nodiscard]] std::optional<RollupPoint> read_rollup(const RollupInterval& interval,
                                                     std::int64_t base_s, BytesView qualifier,
                                                     BytesView value);

}  // namespace halite::storage
