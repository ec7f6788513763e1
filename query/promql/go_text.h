// Texts as Go prints them: messages and printed expressions hold them. Numbers: number_text.h.
#pragma once

#include <string>
#include <string_view>

#include "common/clock.h"

namespace halite::query::promql {

// In double quotes, with escapes where a character is not printable: "a\nb". Each byte that is not
// UTF-8 is \xff.
[[nodiscard]] std::string go_quoted(std::string_view text);
void append_quoted(std::string& to, std::string_view text);

// 'a'.
[[nodiscard]] std::string quoted_character(char32_t character);

// U+0061 'a'; without the quotes if it is not printable.
[[nodiscard]] std::string character_name(char32_t character);

// 2015-07-01T20:10:51Z: RFC 3339 in UTC, in whole seconds.
[[nodiscard]] std::string rfc3339_text(TimestampMs time);

}  // namespace halite::query::promql
