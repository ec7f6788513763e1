// Numbers as Go writes them: +Inf, -Inf, NaN, others with as few digits as they need.
#pragma once

#include <string>

namespace halite::query::promql {

// %g: 0.0001, 1.5, 1e+06
[[nodiscard]] std::string general_text(double value);

// %f without a precision: 1000000000000000000000, never an exponent.
[[nodiscard]] std::string fixed_text(double value);

// %.2g, if `digits` is 2.
[[nodiscard]] std::string rounded_text(double value, int digits);

// %f: 0.500000
[[nodiscard]] std::string six_decimals(double value);

}  // namespace halite::query::promql
