// Iterates over the fields of one element of a body. Private to ingest/.
#pragma once

#include <string>
#include <string_view>

#include <simdjson.h>

#include "common/result.h"
#include "ingest/json/json_tokens.h"
#include "ingest/json/json_values.h"

namespace halite::ingest {

// Calls `take(key, value)` for each field, in order; it must consume the value. simdjson's padding
// follows `element`.
template <class Take>
[[nodiscard]] Result<void> each_field(simdjson::ondemand::parser& parser,
                                      simdjson::padded_string_view element, const Take& take) {
  simdjson::ondemand::document document;
  if (const auto error = parser.iterate(element).get(document)) return not_json(error);
  simdjson::ondemand::object object;
  if (const auto error = document.get_object().get(object)) return not_json(error);
  for (auto result : object) {
    simdjson::ondemand::field field;
    if (const auto error = std::move(result).get(field)) return not_json(error);
    TRY(const std::string key, key_text(field));
    TRY_VOID(take(std::string_view(key), field.value()));
  }
  if (!at_end(document)) return not_json("Unexpected text after the data point");
  return {};
}

// Uses its own parser and a padded copy.
template <class Take>
[[nodiscard]] Result<void> each_field(std::string_view element, const Take& take) {
  const simdjson::padded_string padded(element);
  simdjson::ondemand::parser parser;
  return each_field(parser, padded, take);
}

}  // namespace halite::ingest
