// What counts as a text in the JSON of a question.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

namespace halite::query {

// As OpenTSDB's JSON library takes it: numbers and booleans are texts, too, and null is an empty
// one. Nothing for arrays and objects.
[[nodiscard]] std::optional<std::string> json_text(simdjson::dom::element value);

// Parses a body as OpenTSDB's JSON library does: what stands behind the end of the first object or
// array is not looked at, and NaN, Infinity and -Infinity are values, here texts of that name. The
// result points into `parser`.
[[nodiscard]] simdjson::simdjson_result<simdjson::dom::element> parse_body(
    simdjson::dom::parser& parser, std::string_view body, std::size_t depth_max);

// What is in an array or an object, to be walked at once: a loop over
// value.get_array().value_unsafe() would read what is gone by then.
[[nodiscard]] inline simdjson::dom::array items_of(simdjson::dom::element value) {
  return value.get_array().value_unsafe();
}
[[nodiscard]] inline simdjson::dom::object fields_of(simdjson::dom::element value) {
  return value.get_object().value_unsafe();
}

}  // namespace halite::query
