// The current values of the registry as points.
//
// Every family becomes a metric: halite_ingest_points_total is halite.ingest.points_total. Labels
// become tags, plus the host. A histogram gives its count and sum. Values that are not finite are
// omitted.
#pragma once

#include <string>
#include <vector>

#include <prometheus/metric_family.h>

#include "common/clock.h"
#include "ingest/writer.h"

namespace halite::app {

[[nodiscard]] std::vector<ingest::Writer::SelfPoint> self_metric_points(
    const std::vector<prometheus::MetricFamily>& families, const std::string& host,
    TimestampMs now);

}  // namespace halite::app
