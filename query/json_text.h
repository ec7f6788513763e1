// What counts as a text in the JSON of a question.
#pragma once

#include <optional>
#include <string>

#include <simdjson.h>

namespace halite::query {

// As OpenTSDB's JSON library takes it: numbers and booleans are texts, too, and null is an empty
// one. Nothing for arrays and objects.
[[nodiscard]] std::optional<std::string> json_text(simdjson::dom::element value);

// What is in an array or an object, to be walked at once: a loop over
// value.get_array().value_unsafe() would read what is gone by then.
[[nodiscard]] inline simdjson::dom::array items_of(simdjson::dom::element value) {
  return value.get_array().value_unsafe();
}
[[nodiscard]] inline simdjson::dom::object fields_of(simdjson::dom::element value) {
  return value.get_object().value_unsafe();
}

}  // namespace halite::query
