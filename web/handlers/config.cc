// GET, POST /api/config: the settings. GET, POST /api/config/filters: the tag filters.
//
// Parameters  none
// Answer      200 {"tsd.mode":"rw",..} with every value as text, secrets masked;
//             200 {"literal_or":{"examples":"..","description":".."},..}
// Errors      none
#include "common/bytes/ascii.h"
#include "common/json_string.h"
#include "web/filter_texts.h"
#include "web/handlers/handlers.h"

namespace halite::web {

namespace {

std::string filters_json() {
  std::string json = "{";
  for (const FilterText& filter : filter_texts()) {
    if (json.size() > 1) json += ',';
    append_json_string(json, filter.name);
    json += ":{\"examples\":";
    append_json_string(json, filter.examples);
    json += ",\"description\":";
    append_json_string(json, filter.description);
    json += '}';
  }
  json += '}';
  return json;
}

std::string settings_json(const WebServices& services) {
  std::string json = "{";
  if (services.config) {
    for (const auto& [name, value] : services.config()) {
      if (json.size() > 1) json += ',';
      append_json_string(json, name);
      json += ':';
      const std::string lower = to_lower(name);
      const bool secret = lower.contains("pass") && !lower.ends_with("_max");
      append_json_string(json, secret ? "********" : value);
    }
  }
  json += '}';
  return json;
}

}  // namespace

boost::asio::awaitable<Response> handle_config(Call& call) {
  const bool filters =
      !call.target.rest.empty() && equal_ignoring_case(call.target.rest[0], "filters");
  co_return json_response(200, filters ? filters_json() : settings_json(call.services));
}

}  // namespace halite::web
