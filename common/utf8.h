// UTF-8 and the UTF-16 units behind it, for texts whose rules come from Java.
//
// A lone half of a surrogate pair has no UTF-8. Where a rule speaks of one ("illegal character"),
// it travels in three bytes (ED A0..BF xx), as it would in UTF-8; JSON writers print it as \uD83D.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace halite {

struct CodePoint {
  char32_t value = 0;
  std::uint32_t bytes = 0;  // that it took; 0 = these bytes are not UTF-8
};

// The first character of a text that is not empty. Halves of surrogate pairs are taken as well.
[[nodiscard]] CodePoint decode_utf8(std::string_view text);

// Strict: no halves of surrogate pairs, nothing overlong, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text);
[[nodiscard]] bool is_ascii(std::string_view text);

void append_utf8(std::string& to, char32_t code_point);

// Every byte becomes the character of the same number, U+0000 to U+00FF.
[[nodiscard]] std::string latin1_to_utf8(std::string_view bytes);
// Replaces what is not UTF-8 by U+FFFD.
[[nodiscard]] std::string repair_utf8(std::string_view bytes);

// Calls use(unit) with each UTF-16 unit of a text that is UTF-8.
template <class Use>
void each_utf16_unit(std::string_view text, Use use) {
  while (!text.empty()) {
    const CodePoint next = decode_utf8(text);
    const char32_t value = next.bytes == 0 ? U'\uFFFD' : next.value;
    if (value < 0x10000) {
      use(static_cast<char16_t>(value));
    } else {
      use(static_cast<char16_t>(0xD800 + ((value - 0x10000) >> 10)));
      use(static_cast<char16_t>(0xDC00 + ((value - 0x10000) & 0x3FF)));
    }
    text.remove_prefix(next.bytes == 0 ? 1 : next.bytes);
  }
}

}  // namespace halite
