#include "query/promql/go_text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include <fmt/chrono.h>
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

void append_quoted(std::string& to, std::string_view text) {
  to += '"';
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
}

std::string go_quoted(std::string_view text) {
  std::string to;
  append_quoted(to, text);
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

std::string rfc3339_text(TimestampMs time) {
  const std::chrono::sys_seconds seconds(std::chrono::seconds(time / 1000));
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", seconds);
}

}  // namespace halite::query::promql
