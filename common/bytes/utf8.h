// UTF-8, and its UTF-16 units, for texts with rules that come from Java.
//
// A lone surrogate has no UTF-8 form. Where a rule names one ("illegal character"), it is stored in
// three bytes (ED A0..BF xx), as UTF-8 would encode it. JSON writers print it as \uD83D.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace halite {

struct CodePoint {
  char32_t value = 0;
  std::uint32_t bytes = 0;  // bytes consumed; 0 = not UTF-8
};

// The first character of a text that is not empty. Accepts surrogates.
[[nodiscard]] CodePoint decode_utf8(std::string_view text);

// Strict: no surrogates, no overlong forms, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text);
[[nodiscard]] bool is_ascii(std::string_view text);

// At most so many bytes from the beginning, without half a character at the end.
[[nodiscard]] std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max);

void append_utf8(std::string& to, char32_t code_point);

// Maps each byte to the character with that number, U+0000 to U+00FF.
[[nodiscard]] std::string latin1_to_utf8(std::string_view bytes);
// Replaces bytes that are not UTF-8 with U+FFFD.
[[nodiscard]] std::string repair_utf8(std::string_view bytes);

// Calls use(unit) for each UTF-16 unit of a UTF-8 text.
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
