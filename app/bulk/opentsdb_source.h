// Points of OpenTSDB or Halite, by /api/query.
#pragma once

#include <memory>
#include <vector>

#include "app/bulk/point_source.h"
#include "app/bulk/store_source.h"
#include "app/client/http_client.h"

namespace halite::app {

[[nodiscard]] std::unique_ptr<PointSource> make_opentsdb_source(Peer peer,
                                                                std::vector<SourceMatch> matches);

}  // namespace halite::app
