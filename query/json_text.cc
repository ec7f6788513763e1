#include "query/json_text.h"

#include <fmt/format.h>

namespace halite::query {

std::optional<std::string> json_text(simdjson::dom::element value) {
  switch (value.type()) {
    case simdjson::dom::element_type::NULL_VALUE:
      return std::string();
    case simdjson::dom::element_type::STRING:
      return std::string(value.get_string().value_unsafe());
    case simdjson::dom::element_type::BOOL:
      return std::string(value.get_bool().value_unsafe() ? "true" : "false");
    case simdjson::dom::element_type::INT64:
      return fmt::format("{}", value.get_int64().value_unsafe());
    case simdjson::dom::element_type::UINT64:
      return fmt::format("{}", value.get_uint64().value_unsafe());
    case simdjson::dom::element_type::DOUBLE:
      return fmt::format("{}", value.get_double().value_unsafe());
    default:
      return std::nullopt;
  }
}

}  // namespace halite::query
