// Ranges without a limit.
#pragma once

#include <cstdint>

#include "common/clock.h"

namespace halite::storage {

inline constexpr TimeRange kAllTimes = {.begin = INT64_MIN, .end = INT64_MAX};
inline constexpr TimeRange kSince1970 = {.begin = 0, .end = INT64_MAX};

}  // namespace halite::storage
