// Metrics of query runs: halite_query_*.
#pragma once

#include <string_view>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "common/threads/gauge_guard.h"
#include "query/answer.h"

namespace halite::query {

class RunStats {
 public:
  explicit RunStats(prometheus::Registry& registry);

  // Count a query as waiting, or as running, as long as the return value lives.
  [[nodiscard]] GaugeGuard waiting() { return GaugeGuard(waiting_); }
  [[nodiscard]] GaugeGuard running() { return GaugeGuard(running_); }

  // Counts a query that has ended. An attempt that is repeated is not an end.
  void end(const QueryCost& cost, std::string_view outcome);

 private:
  prometheus::Family<prometheus::Counter>& runs_;  // halite_query_runs_total, by outcome
  prometheus::Gauge& running_;                     // halite_query_running
  prometheus::Gauge& waiting_;                     // halite_query_waiting
  prometheus::Counter& points_read_;               // halite_query_points_read_total
  prometheus::Counter& points_out_;                // halite_query_points_out_total
  prometheus::Histogram& seconds_;                 // halite_query_run_seconds
};

}  // namespace halite::query
