// Buckets of local time: days of 23 and 25 hours, months, years.
//
// A grid begins at an anchor found from a series' first point (midnight, the hour, New Year, ...)
// and steps on from there without being anchored again, as OpenTSDB's does: a grid of seven days
// runs across New Year.
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

  // The beginning of the bucket that holds `time`, on the grid anchored at `time`.
  [[nodiscard]] TimestampMs bucket_start(TimestampMs time) const;

  // The bucket after the one that begins at `start`.
  [[nodiscard]] TimestampMs next(TimestampMs start) const;

  // The beginning of the bucket that holds `time` (>= start), on the grid that has one at `start`.
  [[nodiscard]] TimestampMs advance(TimestampMs start, TimestampMs time) const;

 private:
  enum class Unit : std::uint8_t { kFixed, kDay, kWeek, kMonth, kYear };

  [[nodiscard]] TimestampMs anchor(TimestampMs time) const;
  [[nodiscard]] TimestampMs add(TimestampMs start, std::int64_t count) const;
  [[nodiscard]] TimestampMs add_days(TimestampMs start, std::int64_t days) const;

  Unit unit_ = Unit::kFixed;
  std::int64_t count_ = 1;
  std::int64_t unit_ms_ = 0;  // of the units up to an hour
  cctz::time_zone zone_;
};

}  // namespace halite::query
