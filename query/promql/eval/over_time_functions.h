// Functions over the values of a window, whatever their times: sum_over_time() and others.
#pragma once

#include <span>

#include "query/promql/eval/range_functions.h"

namespace halite::query::promql {

[[nodiscard]] std::span<const RangeFunction> over_time_functions();

}  // namespace halite::query::promql
