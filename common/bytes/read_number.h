// Numbers that are a whole text.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace halite {

// Reads what std::from_chars takes: no blanks, no leading '+'. If false, the text is not a number,
// has more behind it, or is out of range; then the value is unspecified.
template <class Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

}  // namespace halite
