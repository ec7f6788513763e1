// GET, POST /api/config: the settings. GET, POST /api/config/filters: the tag filters.
//
// Parameters  none
// Answer      200 {"tsd.mode":"rw",..} with every value as text, secrets masked;
//             200 {"literal_or":{"examples":"..","description":".."},..}
// Errors      none
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/json_string.h"
#include "web/handlers/handlers.h"

namespace halite::web {

namespace {

// OpenTSDB's descriptions of tag filters.

std::string literal_text(std::string_view contains, std::string_view sensitive) {
  return fmt::format(
      "Accepts one or more exact values and matches if the series {} any of them. Multiple values "
      "can be included and must be separated by the | (pipe) character. The filter is case {} and "
      "will not allow characters that TSDB does not allow at write time.",
      contains, sensitive);
}

std::string wildcard_text(std::string_view sensitive, std::string_view how) {
  return fmt::format(
      "Performs pre, post and in-fix glob matching of values. The globs are case {} and multiple "
      "wildcards can be used. The wildcard character is the * (asterisk). {}At least one wildcard "
      "must be present in the filter value. A wildcard by itself can be used as well to match on "
      "any value for the tag key.",
      sensitive, how);
}

// `values` are the last example.
std::string examples_text(std::string_view name, std::string_view first, std::string_view values) {
  std::string text;
  if (!first.empty()) text = fmt::format("host={}({}),  ", name, first);
  return text + fmt::format(
                    "host={0}({1})  {{\"type\":\"{0}\",\"tagk\":\"host\",\"filter\":"
                    "\"{1}\",\"groupBy\":false}}",
                    name, values);
}

std::string filters_json() {
  std::string json = "{";
  const auto add = [&json](std::string_view name, std::string_view first, std::string_view values,
                           std::string_view description) {
    if (json.size() > 1) json += ',';
    append_json_string(json, name);
    json += ":{\"examples\":";
    append_json_string(json, examples_text(name, first, values));
    json += ",\"description\":";
    append_json_string(json, description);
    json += '}';
  };
  const auto add_literal = [&add](std::string_view name, std::string_view contains,
                                  std::string_view sensitive) {
    add(name, "web01", "web01|web02|web03", literal_text(contains, sensitive));
  };
  add_literal("literal_or", "contains", "sensitive");
  add_literal("iliteral_or", "contains", "insensitive");
  add_literal("not_literal_or", "does NOT contain", "sensitive");
  add_literal("not_iliteral_or", "does NOT contain", "insensitive");
  add("wildcard", "web*", "web*.tsdb.net", wildcard_text("sensitive", ""));
  add("iwildcard", "web*", "web*.tsdb.net",
      wildcard_text("insensitive",
                    "Case insensitivity is achieved by dropping all values to lower case. "));
  add("regexp", "", ".*",
      "Provides full, POSIX compliant regular expression using the built in Java Pattern class. "
      "Note that an expression containing curly braces {} will not parse properly in URLs. If the "
      "pattern is not a valid regular expression then an exception will be raised.");
  return json + '}';
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
