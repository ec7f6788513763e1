// Reads JSON as OpenTSDB's JSON library does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

namespace halite::query {

// The text of a value. Numbers and booleans count as text, and null as an empty text. Nothing for
// arrays and objects.
[[nodiscard]] std::optional<std::string> json_text(simdjson::dom::element value);

// Parses a body. Ignores what follows the first object or array. Accepts NaN, Infinity and
// -Infinity as texts. The result points into `parser`.
[[nodiscard]] simdjson::simdjson_result<simdjson::dom::element> parse_body(
    simdjson::dom::parser& parser, std::string_view body, std::size_t depth_max);

// The items of an array or an object, for an immediate loop. A loop over
// value.get_array().value_unsafe() would read a destroyed temporary.
[[nodiscard]] inline simdjson::dom::array items_of(simdjson::dom::element value) {
  return value.get_array().value_unsafe();
}
[[nodiscard]] inline simdjson::dom::object fields_of(simdjson::dom::element value) {
  return value.get_object().value_unsafe();
}

}  // namespace halite::query
