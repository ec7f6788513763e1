// The target of a request: API or page, version, endpoint, parameters.
//
//   /api/v1/write               ->  another protocol's path: dialect, endpoint "prometheus/write"
//   /api/v1/labels              ->  Prometheus' API: web/http/prometheus_path.h
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
#include "web/http/dialect.h"

namespace halite::web {

// Query-string parameters in order of arrival, percent-decoded.
using Parameters = query::Parameters;

struct Target {
  std::string path;               // decoded, without parameters
  std::string endpoint;           // in lower case: "api/put", "suggest"; empty for "/"
  std::vector<std::string> rest;  // path segments after the endpoint
  Parameters parameters;
  bool api = false;      // errors are JSON
  bool grafana = false;  // with the prefix /grafana
  Dialect dialect = Dialect::kOpenTsdb;
  int version = 0;  // of the API; 1 by default

  [[nodiscard]] bool has(std::string_view name) const;
  // Of a protocol other than OpenTSDB's and Halite's own.
  [[nodiscard]] bool foreign() const { return dialect != Dialect::kOpenTsdb; }
  // The last with that name, as in OpenTSDB; nullptr if absent.
  [[nodiscard]] const std::string* find(std::string_view name) const;
  [[nodiscard]] std::string_view get(std::string_view name) const;  // empty if absent
};

inline constexpr int kApiVersionMax = 1;

// Fills `target` as far as possible, so that even an error has the right format. kInvalidArgument:
// not a path, or an invalid escape. kUnsupported: a newer version of the API.
[[nodiscard]] Result<void> parse_target(std::string_view text, bool grafana_prefix, Target& target);

// Decodes "%41" and "+"; kInvalidArgument for an invalid escape.
[[nodiscard]] Result<std::string> percent_decode(std::string_view text, bool plus_is_space);

// "a=1&b&c=", as OpenTSDB's decoder reads it; ';' also separates.
[[nodiscard]] Result<Parameters> parse_parameters(std::string_view text);

}  // namespace halite::web
