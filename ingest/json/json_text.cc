#include "ingest/json/json_text.h"

#include <algorithm>
#include <cstddef>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"

namespace halite::ingest {
namespace {

bool is_high_half(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low_half(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

// `rest` starts after "\u"; removes what it reads.
bool append_unicode_escape(std::string& to, std::string_view& rest) {
  const auto unit = leading_hex_unit(rest);
  if (!unit) return false;
  rest.remove_prefix(4);
  if (is_high_half(*unit) && rest.starts_with("\\u")) {
    const auto low = leading_hex_unit(rest.substr(2));
    if (low && is_low_half(*low)) {
      rest.remove_prefix(6);
      append_utf8(to, 0x10000 + ((static_cast<char32_t>(*unit) - 0xD800) << 10) + (*low - 0xDC00));
      return true;
    }
  }
  append_utf8(to, *unit);
  return true;
}

}  // namespace

std::optional<std::string> unescape_json(std::string_view inner) {
  std::string text;
  text.reserve(inner.size());
  while (!inner.empty()) {
    const std::size_t plain = std::min(inner.find('\\'), inner.size());
    text.append(inner.substr(0, plain));
    inner.remove_prefix(plain);
    if (inner.empty()) break;
    if (inner.size() < 2) return std::nullopt;
    const char kind = inner[1];
    inner.remove_prefix(2);
    switch (kind) {
      case '"':
      case '\\':
      case '/':
        text.push_back(kind);
        break;
      case 'b':
        text.push_back('\b');
        break;
      case 'f':
        text.push_back('\f');
        break;
      case 'n':
        text.push_back('\n');
        break;
      case 'r':
        text.push_back('\r');
        break;
      case 't':
        text.push_back('\t');
        break;
      case 'u':
        if (!append_unicode_escape(text, inner)) return std::nullopt;
        break;
      default:
        return std::nullopt;
    }
  }
  return text;
}

bool is_json_string(std::string_view token) {
  if (token.size() < 2 || token.front() != '"' || token.back() != '"') return false;
  const std::string_view inner = token.substr(1, token.size() - 2);
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] == '"') return false;
    if (inner[i] != '\\') continue;
    ++i;  // the next byte is escaped
    if (i == inner.size()) return false;
  }
  return true;
}

bool is_json_number(std::string_view token) {
  if (token == "NaN") return true;
  if (token.starts_with('-')) token.remove_prefix(1);
  if (token == "Infinity") return true;
  const std::size_t whole = count_digits(token);
  if (whole == 0 || (whole > 1 && token.front() == '0')) return false;
  token.remove_prefix(whole);
  if (token.starts_with('.')) {
    const std::size_t fraction = count_digits(token.substr(1));
    if (fraction == 0) return false;
    token.remove_prefix(fraction + 1);
  }
  if (token.starts_with('e') || token.starts_with('E')) {
    token.remove_prefix(1);
    if (token.starts_with('+') || token.starts_with('-')) token.remove_prefix(1);
    const std::size_t exponent = count_digits(token);
    if (exponent == 0) return false;
    token.remove_prefix(exponent);
  }
  return token.empty();
}

}  // namespace halite::ingest
