// What a request's target names: API or page, version, endpoint, parameters.
//
//   /api/v1/search/lookup?m=x   ->  api, version 1, endpoint "api/search", rest {"lookup"}, {m: x}
//   /suggest?type=metrics       ->  page, endpoint "suggest"
//   /grafana/api/query          ->  as /api/query, with `grafana` set
//   //api/query                 ->  as /api/query
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "query/parse/parse_context.h"

namespace halite::web {

// Query-string parameters in the order they came, percent-decoded.
using Parameters = query::Parameters;

struct Target {
  std::string path;               // decoded, without parameters
  std::string endpoint;           // in lower case: "api/put", "suggest"; empty for "/"
  std::vector<std::string> rest;  // path segments after the endpoint
  Parameters parameters;
  bool api = false;      // errors are answered as JSON
  bool grafana = false;  // came by the prefix /grafana
  int version = 0;       // of the API; 1 where none is named

  [[nodiscard]] bool has(std::string_view name) const;
  // The last of that name, as OpenTSDB takes it; nullptr when absent.
  [[nodiscard]] const std::string* find(std::string_view name) const;
  [[nodiscard]] std::string_view get(std::string_view name) const;  // empty when absent
};

inline constexpr int kApiVersionMax = 1;

// Fills `target` as far as it can be read, so that also an error is answered in the right manner.
// kInvalidArgument: not a path, or a broken escape. kUnsupported: a newer version of the API.
[[nodiscard]] Result<void> parse_target(std::string_view text, bool grafana_prefix, Target& target);

// "%41" and "+"; kInvalidArgument for a broken escape.
[[nodiscard]] Result<std::string> percent_decode(std::string_view text, bool plus_is_space);

// "a=1&b&c=": as OpenTSDB's decoder reads it; ';' separates too.
[[nodiscard]] Result<Parameters> parse_parameters(std::string_view text);

}  // namespace halite::web
