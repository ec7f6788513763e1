// JSON strings as OpenTSDB writes them.
#pragma once

#include <string>
#include <string_view>

namespace halite::web {

// Appends the text in quotes. Escapes only  " \ \b \f \n \r \t  and other control characters as
// \u00XX, and halves of surrogate pairs (common/utf8.h). Other bytes that are no UTF-8 are taken as
// ISO-8859-1, so that the answer stays legal JSON.
void append_json_string(std::string& to, std::string_view text);

[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace halite::web
