// Character classes, letter case and trimming of ASCII text, independent of the locale.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace halite {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
[[nodiscard]] constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
[[nodiscard]] constexpr bool is_letter(char c) { return is_lower(c) || is_upper(c); }
[[nodiscard]] constexpr bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }

[[nodiscard]] constexpr char to_lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] constexpr char to_upper(char c) {
  return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
}
[[nodiscard]] inline std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  return lower;
}
[[nodiscard]] inline std::string to_upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = to_upper(c);
  return upper;
}
[[nodiscard]] constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return to_lower(x) == to_lower(y); });
}

// The value of a hexadecimal digit in either case; -1 for any other character.
[[nodiscard]] constexpr int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  c = to_lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
// The UTF-16 unit of the four hexadecimal digits at the start of `text`, as after "\u".
[[nodiscard]] constexpr std::optional<char16_t> leading_hex_unit(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  unsigned unit = 0;
  for (const char c : text.substr(0, 4)) {
    const int digit = hex_digit(c);
    if (digit < 0) return std::nullopt;
    unit = unit << 4 | static_cast<unsigned>(digit);
  }
  return static_cast<char16_t>(unit);
}

// The number of digits at the start of `text`.
[[nodiscard]] constexpr std::size_t count_digits(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  return count;
}

inline constexpr std::string_view kBlanks = " \t";
inline constexpr std::string_view kJsonBlanks = " \t\r\n";
inline constexpr std::string_view kCBlanks = " \t\n\v\f\r";  // isspace() in the C locale

// Removes characters of `blanks` from both ends.
[[nodiscard]] constexpr std::string_view trim(std::string_view text,
                                              std::string_view blanks = kBlanks) {
  while (!text.empty() && blanks.contains(text.front())) text.remove_prefix(1);
  while (!text.empty() && blanks.contains(text.back())) text.remove_suffix(1);
  return text;
}

// Java's String.trim(): removes every character up to the space, at both ends.
[[nodiscard]] constexpr std::string_view java_trim(std::string_view text) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace halite
