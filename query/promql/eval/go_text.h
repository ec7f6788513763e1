// Texts as Go prints them, for messages that are those of Prometheus. Numbers: also number_text.h.
#pragma once

#include <string>
#include <string_view>

namespace halite::query::promql {

[[nodiscard]] std::string rounded_text(double value, int digits);  // %.2g, if `digits` is 2
[[nodiscard]] std::string six_decimals(double value);              // %f: 0.500000

// In double quotes. Escapes what is not printable, and each byte that is not UTF-8 as \xff.
void append_quoted(std::string& to, std::string_view text);
[[nodiscard]] std::string go_quoted(std::string_view text);

}  // namespace halite::query::promql
