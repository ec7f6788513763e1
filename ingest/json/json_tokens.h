// Helpers for simdjson's tokens, for the two readers of /api/put bodies. Private to ingest/.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <simdjson.h>

#include "common/bytes/ascii.h"
#include "common/json/json_fault.h"
#include "common/result.h"

namespace halite::ingest {

[[nodiscard]] inline std::unexpected<Error> not_json(std::string details) {
  return fail(Errc::kInvalidArgument, "Unable to parse the given JSON", std::move(details));
}

[[nodiscard]] inline std::unexpected<Error> not_json(simdjson::error_code error) {
  return not_json(json_fault(error));
}

[[nodiscard]] inline std::string_view trim_json_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

// The raw scalar, or the bracket that opens the value. Steps over a string itself: simdjson must
// guess whether it is at a name, so it would accept {"a":"b":"c"}.
[[nodiscard]] inline std::string_view token_of(simdjson::ondemand::value& value) {
  const std::string_view token = trim_json_end(value.raw_json_token());
  if (token.starts_with('"')) static_cast<void>(value.get_raw_json_string());
  return token;
}

[[nodiscard]] inline char first_of(simdjson::ondemand::value& value) {
  return value.raw_json_token().front();
}

// The raw field name between its quotes. simdjson has found both quotes.
[[nodiscard]] inline std::string_view key_of(const simdjson::ondemand::field& field) {
  const char* const begin = field.key().raw();
  const char* at = begin;
  while (*at != '"') at += *at == '\\' ? 2 : 1;
  return {begin, static_cast<std::size_t>(at - begin)};
}

[[nodiscard]] inline bool has_escape(std::string_view inner) {
  return inner.find('\\') != std::string_view::npos;
}

// True if only blanks follow the document's value, which must be consumed.
[[nodiscard]] inline bool at_end(simdjson::ondemand::document& document) {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

}  // namespace halite::ingest
