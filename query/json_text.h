// What counts as a text in the JSON of a question.
#pragma once

#include <optional>
#include <string>

#include <simdjson.h>

namespace halite::query {

// As OpenTSDB's JSON library takes it: numbers and booleans are texts, too, and null is an empty
// one. Nothing for arrays and objects.
[[nodiscard]] std::optional<std::string> json_text(simdjson::dom::element value);

}  // namespace halite::query
