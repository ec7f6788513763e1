// Text functions for both syntaxes of a query.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace halite::query {

// All parts, including empty ones: "a::b" has three parts, "" has one.
[[nodiscard]] std::vector<std::string_view> split_all(std::string_view text, char separator);

// As split_all(), but ignores separators inside closed braces or parentheses: "a:m{b=c:d}" has two
// parts at ':'. A backslash escapes the next character, as in a regular expression.
[[nodiscard]] std::vector<std::string_view> split_outside(std::string_view text, char separator);

// The position that closes the brace or parenthesis at `open`; npos if there is none.
[[nodiscard]] std::size_t find_close(std::string_view text, std::size_t open);

// As Java's String.split: drops empty parts at the end.
[[nodiscard]] std::vector<std::string_view> split_trimmed(std::string_view text, char separator);

}  // namespace halite::query
