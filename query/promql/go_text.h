// Texts as Go prints them: messages and printed expressions hold them.
#pragma once

#include <string>
#include <string_view>

namespace halite::query::promql {

// In double quotes, with escapes where a character is not printable: "a\nb".
[[nodiscard]] std::string quoted(std::string_view text);

// 'a'.
[[nodiscard]] std::string quoted_character(char32_t character);

// U+0061 'a'; without the quotes if it is not printable.
[[nodiscard]] std::string character_name(char32_t character);

// The shortest decimal text that reads back as the same number, without an exponent: 0.001, +Inf.
[[nodiscard]] std::string number_text(double value);

}  // namespace halite::query::promql
