// Points of Prometheus, by range selectors, and of VictoriaMetrics, by /api/v1/export.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/bulk/point_source.h"
#include "app/bulk/store_source.h"
#include "app/client/http_client.h"

namespace halite::app {

// A selector of PromQL: {__name__="m",k=~"a|b"}. kUnsupported: PromQL has no such filter.
[[nodiscard]] Result<std::string> promql_selector(std::string_view metric,
                                                  const std::vector<storage::TagFilter>& filters);

[[nodiscard]] std::unique_ptr<PointSource> make_prometheus_source(Peer peer,
                                                                  std::vector<SourceMatch> matches);
[[nodiscard]] std::unique_ptr<PointSource> make_victoria_source(Peer peer,
                                                                std::vector<SourceMatch> matches);

}  // namespace halite::app
