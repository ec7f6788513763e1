// Functions over the values of a window, whatever their times: sum_over_time() and others.
#pragma once

#include <cstdint>
#include <span>

#include "query/promql/eval/range_functions.h"

namespace halite::query::promql {

using RangeParameters = std::span<const double>;

[[nodiscard]] inline double seconds_of(std::int64_t ms) { return static_cast<double>(ms) / 1000; }

[[nodiscard]] std::span<const RangeFunction> over_time_functions();

}  // namespace halite::query::promql
