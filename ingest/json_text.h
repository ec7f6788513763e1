// JSON's scalars: what they are, and what a string says.
//
// Strings come out as UTF-8, a lone half of a surrogate pair as common/utf8.h says.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace halite::ingest {

// `inner` is what stands between the quotes. Nothing: an escape is wrong.
[[nodiscard]] std::optional<std::string> unescape_json(std::string_view inner);

// A token that starts at a quote and is nothing but one string.
[[nodiscard]] bool is_json_string(std::string_view token);

// JSON's numbers, and NaN, Infinity and -Infinity, which OpenTSDB takes too.
[[nodiscard]] bool is_json_number(std::string_view token);

}  // namespace halite::ingest
