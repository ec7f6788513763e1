// JSON scalars: their syntax, and the content of strings.
//
// Strings are returned as UTF-8, lone surrogates as described in common/bytes/utf8.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace halite::ingest {

// `inner` is the text between the quotes. Returns nullopt if an escape is invalid.
[[nodiscard]] std::optional<std::string> unescape_json(std::string_view inner);

// A token that consists of exactly one string.
[[nodiscard]] bool is_json_string(std::string_view token);

// JSON numbers, and NaN, Infinity and -Infinity, which OpenTSDB also accepts.
[[nodiscard]] bool is_json_number(std::string_view token);

}  // namespace halite::ingest
