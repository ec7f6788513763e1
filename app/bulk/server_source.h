// Points of a running server: OpenTSDB and Halite by /api/query, VictoriaMetrics by
// /api/v1/export, Prometheus by range selectors.
#pragma once

#include <memory>
#include <vector>

#include "app/bulk/point_source.h"
#include "app/bulk/store_source.h"
#include "app/client/http_client.h"

namespace halite::app {

// The earliest time that can be asked for: OpenTSDB reads numbers of fewer digits as seconds.
inline constexpr TimestampMs kServerTimeMin = 10'000'000'000;

// Finds out which server it is. kUnavailable: it does not answer; kUnsupported: it is none of
// these, or it cannot evaluate a filter of the matches.
[[nodiscard]] Result<std::unique_ptr<PointSource>> open_server_source(
    Peer peer, std::vector<SourceMatch> matches);

}  // namespace halite::app
