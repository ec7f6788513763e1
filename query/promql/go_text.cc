#include "query/promql/go_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/utf8.h"

namespace halite::query::promql {
namespace {

struct Characters {
  char32_t first;
  char32_t last;
};

// Control and format characters, blanks other than the space, and those for private use. Characters
// that Unicode has not assigned are not among them: they would change with its versions.
constexpr auto kNotPrintable = std::to_array<Characters>({
    {0x00, 0x1F},       {0x7F, 0xA0},       {0xAD, 0xAD},        {0x600, 0x605},
    {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},      {0x890, 0x891},
    {0x8E2, 0x8E2},     {0x1680, 0x1680},   {0x180E, 0x180E},    {0x2000, 0x200F},
    {0x2028, 0x202F},   {0x205F, 0x206F},   {0x3000, 0x3000},    {0xD800, 0xF8FF},
    {0xFDD0, 0xFDEF},   {0xFEFF, 0xFEFF},   {0xFFF0, 0xFFFB},    {0xFFFE, 0xFFFF},
    {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F},  {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A}, {0xE0000, 0xE00FF}, {0xF0000, 0x10FFFF},
});

bool is_printable(char32_t c) {
  const auto* const range = std::ranges::lower_bound(kNotPrintable, c, {}, &Characters::last);
  return range == kNotPrintable.end() || c < range->first;
}

void append_escaped(std::string& to, char32_t c, char quote) {
  static constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\";
  static constexpr std::string_view kLetters = "abfnrtv\\";
  const char ascii = c < 0x80 ? static_cast<char>(c) : '\0';
  if (const auto at = kMeant.find(ascii); c != 0 && at != std::string_view::npos) {
    to += {'\\', kLetters[at]};
  } else if (ascii == quote) {
    to += {'\\', quote};
  } else if (is_printable(c)) {
    append_utf8(to, c);
  } else if (c < 0x80) {
    to += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
  } else if (c < 0x10000) {
    to += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
  } else {
    to += fmt::format("\\U{:08x}", static_cast<unsigned>(c));
  }
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string to = "\"";
  while (!text.empty()) {
    const CodePoint next = decode_utf8(text);
    const bool valid = next.bytes > 0 && (next.value < 0xD800 || next.value > 0xDFFF);
    if (valid) {
      append_escaped(to, next.value, '"');
    } else {
      to += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    }
    text.remove_prefix(valid ? next.bytes : 1);
  }
  to += '"';
  return to;
}

std::string quoted_character(char32_t character) {
  std::string to = "'";
  append_escaped(to, character, '\'');
  to += '\'';
  return to;
}

std::string character_name(char32_t character) {
  std::string to = fmt::format("U+{:04X}", static_cast<unsigned>(character));
  if (!is_printable(character)) return to;
  to += " '";
  append_utf8(to, character);
  to += '\'';
  return to;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  // The fixed form of std::to_chars prints all digits of large numbers, not the shortest.
  std::array<char, 32> buffer;
  const char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                        std::abs(value), std::chars_format::scientific)
                              .ptr;
  const std::string_view written(buffer.data(), end);
  const std::size_t e = written.find('e');
  std::string digits(1, written.front());
  if (e > 2) digits += written.substr(2, e - 2);
  int exponent = 0;
  const std::size_t from = e + (written[e + 1] == '+' ? 2 : 1);
  std::from_chars(written.data() + from, end, exponent);

  std::string to = std::signbit(value) ? "-" : "";
  const int point = exponent + 1;  // digits before it
  if (point <= 0) {
    to += "0.";
    to.append(static_cast<std::size_t>(-point), '0');
    return to + digits;
  }
  const auto whole = static_cast<std::size_t>(point);
  if (digits.size() <= whole) {
    digits.resize(whole, '0');
    return to + digits;
  }
  digits.insert(whole, ".");
  return to + digits;
}

}  // namespace halite::query::promql
