// The time at which tests of queries begin.
#pragma once

#include "common/clock.h"

namespace halite::query {

inline constexpr TimestampMs kT = 1'356'998'400'000;  // 2013-01-01T00:00:00Z

}  // namespace halite::query
