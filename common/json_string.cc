#include "common/json_string.h"

#include "common/bytes/utf8.h"

namespace halite {

namespace {

constexpr char kHex[] = "0123456789ABCDEF";

void append_unit(std::string& to, unsigned unit) {
  to += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) to += kHex[(unit >> shift) & 15];
}

void append_ascii(std::string& to, char c) {
  switch (c) {
    case '"':
      to += "\\\"";
      return;
    case '\\':
      to += "\\\\";
      return;
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
      if (static_cast<unsigned char>(c) < 0x20) {
        append_unit(to, static_cast<unsigned char>(c));
      } else {
        to += c;
      }
  }
}

bool is_half_pair(char32_t value) { return value >= 0xD800 && value <= 0xDFFF; }

// Appends a character that begins with a byte of 0x80 or more. Returns the bytes consumed.
std::size_t append_beyond_ascii(std::string& to, std::string_view text) {
  const CodePoint next = decode_utf8(text);
  if (next.bytes == 0) {
    append_utf8(to, static_cast<unsigned char>(text.front()));
    return 1;
  }
  const std::string_view sequence = text.substr(0, next.bytes);
  if (next.value >= 0x10000 || is_half_pair(next.value)) {
    each_utf16_unit(sequence, [&to](char16_t unit) { append_unit(to, unit); });
  } else {
    to += sequence;
  }
  return next.bytes;
}

// The number of leading bytes that need no escape.
std::size_t plain_bytes(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size()) {
    const auto byte = static_cast<unsigned char>(text[count]);
    if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\') break;
    ++count;
  }
  return count;
}

}  // namespace

void append_json_string(std::string& to, std::string_view text) {
  to += '"';
  for (;;) {
    const std::size_t plain = plain_bytes(text);
    to += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    if (static_cast<unsigned char>(text.front()) < 0x80) {
      append_ascii(to, text.front());
      text.remove_prefix(1);
    } else {
      text.remove_prefix(append_beyond_ascii(to, text));
    }
  }
  to += '"';
}

std::string json_string(std::string_view text) {
  std::string result;
  append_json_string(result, text);
  return result;
}

}  // namespace halite
