// Texts as Go prints them: messages and printed expressions hold them. Numbers: number_text.h.
#pragma once

#include <string>
#include <string_view>

namespace halite::query::promql {

// In double quotes, with escapes where a character is not printable: "a\nb". Each byte that is not
// UTF-8 is \xff.
[[nodiscard]] std::string quoted(std::string_view text);
void append_quoted(std::string& to, std::string_view text);

// 'a'.
[[nodiscard]] std::string quoted_character(char32_t character);

// U+0061 'a'; without the quotes if it is not printable.
[[nodiscard]] std::string character_name(char32_t character);

}  // namespace halite::query::promql
