// Small pieces of text handling that both syntaxes of a question need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halite::query {

[[nodiscard]] std::string to_lower(std::string_view text);  // ASCII letters only

// Every part, also empty ones: "a::b" is three parts, "" is one.
[[nodiscard]] std::vector<std::string_view> split_all(std::string_view text, char separator);

// As Java's String.split: without empty parts at the end.
[[nodiscard]] std::vector<std::string_view> split_trimmed(std::string_view text, char separator);

}  // namespace halite::query
