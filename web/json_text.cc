#include "web/json_text.h"

#include <cstddef>

#include "common/utf8.h"

namespace halite::web {

namespace {

// The length of the well-formed UTF-8 sequence at the beginning of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i) { return i < text.size() && (at(i) & 0xC0) == 0x80; };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    if (first == 0xE0 && at(1) < 0xA0) return 0;  // too long for its value
    if (first == 0xED && at(1) > 0x9F) return 0;  // half of a surrogate pair
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (first == 0xF0 && at(1) < 0x90) return 0;
    if (first == 0xF4 && at(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

void append_control(std::string& to, unsigned char c) {
  constexpr char kHex[] = "0123456789ABCDEF";
  switch (c) {
    case '\b':
      to += "\\b";
      return;
    case '\f':
      to += "\\f";
      return;
    case '\n':
      to += "\\n";
      return;
    case '\r':
      to += "\\r";
      return;
    case '\t':
      to += "\\t";
      return;
    default:
      to += "\\u00";
      to += kHex[c >> 4];
      to += kHex[c & 15];
  }
}

// Half of a surrogate pair in three bytes, as texts from Java's rules hold one (common/utf8.h).
bool is_half_pair(std::string_view text) {
  const CodePoint first = decode_utf8(text);
  return first.bytes == 3 && first.value >= 0xD800 && first.value <= 0xDFFF;
}

void append_half_pair(std::string& to, char32_t unit) {
  constexpr char kHex[] = "0123456789ABCDEF";
  to += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) to += kHex[(unit >> shift) & 15];
}

void append_latin1(std::string& to, unsigned char c) {
  to += static_cast<char>(0xC0 | (c >> 6));
  to += static_cast<char>(0x80 | (c & 0x3F));
}

}  // namespace

void append_json_string(std::string& to, std::string_view text) {
  to += '"';
  std::size_t i = 0;
  while (i < text.size()) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      to += '\\';
      to += static_cast<char>(c);
      ++i;
    } else if (c < 0x20) {
      append_control(to, c);
      ++i;
    } else if (const std::size_t length = utf8_length(text.substr(i)); length != 0) {
      to.append(text, i, length);
      i += length;
    } else if (is_half_pair(text.substr(i))) {
      append_half_pair(to, decode_utf8(text.substr(i)).value);
      i += 3;
    } else {
      append_latin1(to, c);
      ++i;
    }
  }
  to += '"';
}

std::string json_string(std::string_view text) {
  std::string result;
  append_json_string(result, text);
  return result;
}

}  // namespace halite::web
