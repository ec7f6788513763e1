// Paths of Prometheus' HTTP API: below /prometheus, and at the root where OpenTSDB has nothing.
//
//   /prometheus/api/v1/query_range      ->  "prometheus/query_range"; so is /api/v1/query_range
//   /api/v1/label/job/values            ->  "prometheus/label_values", rest {"job"}
//   /api/v1/status/buildinfo            ->  "prometheus/status", rest {"buildinfo"}
//   /prometheus/graph                   ->  "prometheus/none", which is no endpoint
//   /api/v1/query                       ->  OpenTSDB's path, too: see asks_promql()
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/http/dialect.h"
#include "web/http/http_message.h"

namespace halite::web {

struct Target;

struct PrometheusPath {
  std::string_view endpoint;  // see endpoints.cc
  Dialect dialect = Dialect::kPrometheusJson;
  std::vector<std::string> rest;
};

// Nothing if it is another protocol's. Case matters.
[[nodiscard]] std::optional<PrometheusPath> find_prometheus_path(std::string_view path);

// Whether a request to exactly /api/v1/query is one of Prometheus. Before the body has come, or if
// it is compressed, its type decides.
[[nodiscard]] bool asks_promql(const Request& request, const Target& target);

}  // namespace halite::web
