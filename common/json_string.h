// JSON strings as OpenTSDB writes them in answers and stored cells.
#pragma once

#include <string>
#include <string_view>

namespace halite {

// Appends the text in quotes. Escapes " \ \b \f \n \r \t, other control characters as \u00XX,
// characters outside the basic plane as two \uXXXX, and lone surrogates (common/bytes/utf8.h) as
// one. Other bytes that are not UTF-8 are read as ISO-8859-1, so that the result is valid JSON.
void append_json_string(std::string& to, std::string_view text);

[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace halite
