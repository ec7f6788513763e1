#include "query/promql/eval/go_text.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>
#include <re2/re2.h>

#include "common/bytes/utf8.h"
#include "query/promql/eval/number_text.h"

namespace halite::query::promql {
namespace {

bool is_printable_character(std::string_view character) {
  static const re2::RE2 kPrintable(R"([\pL\pM\pN\pP\pS])");
  return re2::RE2::FullMatch(re2::StringPiece(character.data(), character.size()), kPrintable);
}

void append_escaped_byte(std::string& to, char byte) {
  static constexpr std::string_view kNamed = "\a\b\t\n\v\f\r";  // 7 to 13
  static constexpr std::string_view kLetters = "abtnvfr";
  if (byte == '"' || byte == '\\') {
    to += '\\';
    to += byte;
  } else if (const std::size_t at = kNamed.find(byte); at != std::string_view::npos) {
    to += '\\';
    to += kLetters[at];
  } else if (static_cast<unsigned char>(byte) < 0x20 || static_cast<unsigned char>(byte) >= 0x7F) {
    fmt::format_to(std::back_inserter(to), "\\x{:02x}", static_cast<unsigned char>(byte));
  } else {
    to += byte;
  }
}

}  // namespace

std::string rounded_text(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}g}", value, digits) : general_text(value);
}

std::string six_decimals(double value) {
  return std::isfinite(value) ? fmt::format("{:f}", value) : general_text(value);
}

void append_quoted(std::string& to, std::string_view text) {
  to += '"';
  while (!text.empty()) {
    const CodePoint character = decode_utf8(text);
    const bool whole = is_utf8(text.substr(0, character.bytes));  // not so: a surrogate
    const std::size_t bytes = whole && character.bytes > 0 ? character.bytes : 1;
    if (bytes == 1) {
      append_escaped_byte(to, text.front());
    } else if (is_printable_character(text.substr(0, bytes))) {
      to += text.substr(0, bytes);
    } else {
      const auto value = static_cast<std::uint32_t>(character.value);
      if (value < 0x10000) {
        fmt::format_to(std::back_inserter(to), "\\u{:04x}", value);
      } else {
        fmt::format_to(std::back_inserter(to), "\\U{:08x}", value);
      }
    }
    text.remove_prefix(bytes);
  }
  to += '"';
}

std::string go_quoted(std::string_view text) {
  std::string quoted;
  append_quoted(quoted, text);
  return quoted;
}

}  // namespace halite::query::promql
