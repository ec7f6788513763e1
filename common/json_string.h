// JSON strings as OpenTSDB writes them, in answers and in stored cells.
#pragma once

#include <string>
#include <string_view>

namespace halite {

// Appends the text in quotes. Escapes only  " \ \b \f \n \r \t  and other control characters as
// \u00XX, what lies outside the basic plane as two \uXXXX, and halves of surrogate pairs
// (common/utf8.h) as one. Other bytes that are no UTF-8 are taken as ISO-8859-1, so that the text
// stays legal JSON.
void append_json_string(std::string& to, std::string_view text);

[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace halite
