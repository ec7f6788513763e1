// Doubles that aggregates begin and end with.
#pragma once

#include <limits>

namespace halite::query {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace halite::query
