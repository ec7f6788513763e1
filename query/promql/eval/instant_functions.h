// Functions from one value of an instant vector to one value: abs(), clamp(), hour() and others.
#pragma once

#include <span>
#include <string_view>

#include "query/promql/eval/values.h"

namespace halite::query::promql {

struct InstantFunction {
  std::string_view name;
  // The new value, or kAbsent: clamp() with limits in the wrong order. `parameters` are the scalar
  // arguments at this step, with their defaults.
  double (*evaluate)(double value, std::span<const double> parameters);
};

// Null if it is none of these.
[[nodiscard]] const InstantFunction* find_instant_function(std::string_view name);

}  // namespace halite::query::promql
