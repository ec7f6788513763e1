// Strings in quotes, as in selectors and in PromQL: double or single quotes with Go's escapes, or
// backquotes without escapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace halite::query {

enum class QuotedFault : std::uint8_t {
  kNone,
  kNoEnd,            // or a line feed before the end, which only backquotes may hold
  kNotUtf8,          // in the text; escapes may still make any bytes
  kEscapeUnknown,    // `character` behind the backslash
  kEscapeCut,        // the text ends within an escape
  kEscapeDigit,      // `character` in place of a digit
  kEscapeByte,       // octal, more than \377
  kEscapeCharacter,  // no character of Unicode
};

struct QuotedText {
  std::string value;      // decoded
  std::size_t bytes = 0;  // of the text, with its quotes
  QuotedFault fault = QuotedFault::kNone;
  // Of a fault.
  std::size_t at = 0;      // the byte of the text: for escapes that of the backslash
  char32_t character = 0;  // U+FFFD: not UTF-8
  int digits = 0;          // that the escape needs
  int base = 0;            // of these digits: 8 or 16
};

// Reads the string at the start of `text`, which begins with a quote. Stops at the first fault.
[[nodiscard]] QuotedText read_quoted(std::string_view text);

}  // namespace halite::query
