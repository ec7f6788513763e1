// Buckets of local time: days of 23 and 25 hours, months, years.
//
// As in OpenTSDB, a grid begins at an anchor derived from a series' first point (midnight, the
// hour, New Year, ...). It is not anchored again: a grid of seven days continues across New Year.
#pragma once

#include <cstdint>
#include <string_view>

#include <cctz/time_zone.h>

#include "common/clock.h"

namespace halite::query {

class Calendar {
 public:
  // unit: "ms" "s" "m" "h" "d" "w" "n" (month) "y"; count is at least 1.
  Calendar(std::string_view unit, std::int32_t count, cctz::time_zone zone);

  // The start of the bucket that contains `time`, on the grid anchored at `time`.
  [[nodiscard]] TimestampMs bucket_start(TimestampMs time) const;

  // The start of the bucket after the one at `start`.
  [[nodiscard]] TimestampMs next(TimestampMs start) const;

  // The start of the bucket that contains `time` (>= start), on the grid with a bucket at `start`.
  [[nodiscard]] TimestampMs advance(TimestampMs start, TimestampMs time) const;

 private:
  enum class Unit : std::uint8_t { kFixed, kDay, kWeek, kMonth, kYear };

  [[nodiscard]] TimestampMs anchor(TimestampMs time) const;
  [[nodiscard]] TimestampMs add(TimestampMs start, std::int64_t count) const;
  [[nodiscard]] TimestampMs add_days(TimestampMs start, std::int64_t days) const;

  Unit unit_ = Unit::kFixed;
  std::int64_t count_ = 1;
  std::int64_t unit_ms_ = 0;  // for units up to an hour
  cctz::time_zone zone_;
};

}  // namespace halite::query
