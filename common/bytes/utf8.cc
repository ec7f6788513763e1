#include "common/bytes/utf8.h"

#include <cstddef>
#include <cstring>

namespace halite {
namespace {

constexpr char32_t kReplacement = U'\uFFFD';

bool is_surrogate(char32_t value) { return value >= 0xD800 && value <= 0xDFFF; }

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// The number of leading ASCII characters. Tests eight at a time, because names are mostly ASCII.
std::size_t ascii_run(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080'8080'8080'8080;
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if ((eight & kHighBits) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace

CodePoint decode_utf8(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {.value = first, .bytes = 1};
  std::uint32_t bytes = 0;
  char32_t value = 0;
  if ((first & 0xE0) == 0xC0) {
    bytes = 2;
    value = first & 0x1F;
  } else if ((first & 0xF0) == 0xE0) {
    bytes = 3;
    value = first & 0x0F;
  } else if ((first & 0xF8) == 0xF0) {
    bytes = 4;
    value = first & 0x07;
  }
  if (bytes == 0 || text.size() < bytes) return {};
  for (std::uint32_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text[i])) return {};
    value = (value << 6) | (static_cast<unsigned char>(text[i]) & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[bytes] || value > 0x10FFFF) return {};
  return {.value = value, .bytes = bytes};
}

bool is_ascii(std::string_view text) { return ascii_run(text) == text.size(); }

bool is_utf8(std::string_view text) {
  for (;;) {
    text.remove_prefix(ascii_run(text));
    if (text.empty()) return true;
    const CodePoint next = decode_utf8(text);
    if (next.bytes == 0 || is_surrogate(next.value)) return false;
    text.remove_prefix(next.bytes);
  }
}

std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && is_continuation(text[end])) --end;
  return text.substr(0, end);
}

void append_utf8(std::string& to, char32_t code_point) {
  const auto tail = [&](unsigned shift) {
    to.push_back(static_cast<char>(0x80 | ((code_point >> shift) & 0x3F)));
  };
  if (code_point < 0x80) {
    to.push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    to.push_back(static_cast<char>(0xC0 | (code_point >> 6)));
    tail(0);
  } else if (code_point < 0x10000) {
    to.push_back(static_cast<char>(0xE0 | (code_point >> 12)));
    tail(6);
    tail(0);
  } else {
    to.push_back(static_cast<char>(0xF0 | (code_point >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string latin1_to_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + (bytes.size() / 8));
  for (const char byte : bytes) append_utf8(text, static_cast<unsigned char>(byte));
  return text;
}

std::string repair_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + 16);
  while (!bytes.empty()) {
    const CodePoint next = decode_utf8(bytes);
    if (next.bytes == 0 || is_surrogate(next.value)) {
      append_utf8(text, kReplacement);
    } else {
      text.append(bytes.substr(0, next.bytes));
    }
    bytes.remove_prefix(next.bytes == 0 ? 1 : next.bytes);
  }
  return text;
}

}  // namespace halite
