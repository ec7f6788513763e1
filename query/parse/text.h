// Small pieces of text handling that both syntaxes of a question need.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halite::query {

// Every part, also empty ones: "a::b" is three parts, "" is one.
[[nodiscard]] std::vector<std::string_view> split_all(std::string_view text, char separator);

// The same, but not at separators inside braces or parentheses that are closed: "a:m{b=c:d}" is two
// parts at ':'. A backslash takes its meaning from the next letter, as in a regular expression.
[[nodiscard]] std::vector<std::string_view> split_outside(std::string_view text, char separator);

// Where the brace or parenthesis at `open` is closed; npos if it is not.
[[nodiscard]] std::size_t find_close(std::string_view text, std::size_t open);

// As Java's String.split: without empty parts at the end.
[[nodiscard]] std::vector<std::string_view> split_trimmed(std::string_view text, char separator);

}  // namespace halite::query
