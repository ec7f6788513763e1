// Numbers and texts as Go prints them, for messages that are those of Prometheus.
#pragma once

#include <string>
#include <string_view>

namespace halite::query::promql {

[[nodiscard]] std::string go_number(double value);              // %g: 0.5, 1e+06, +Inf, NaN
[[nodiscard]] std::string go_number(double value, int digits);  // %.2g, if `digits` is 2
[[nodiscard]] std::string go_fixed(double value);               // %f: 0.500000

// In double quotes. Escapes what is not printable, and each byte that is not UTF-8 as \xff.
void append_quoted(std::string& to, std::string_view text);
[[nodiscard]] std::string go_quoted(std::string_view text);

}  // namespace halite::query::promql
