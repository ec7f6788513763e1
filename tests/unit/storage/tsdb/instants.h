// Times that tests of the engine tell their clocks.
#pragma once

#include "common/data_point.h"
#include "common/units.h"

namespace halite::storage {

inline constexpr TimestampMs kNow = 1'700'000'000'000;
inline constexpr TimestampMs kFullHour = kNow / kHourMs * kHourMs;
inline constexpr TimestampMs kMidnight = kNow / kDayMs * kDayMs;

}  // namespace halite::storage
