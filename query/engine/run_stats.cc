#include "query/engine/run_stats.h"

#include <string>

#include "common/metrics.h"

namespace halite::query {

RunStats::RunStats(prometheus::Registry& registry)
    : runs_(counter_family(registry, "halite_query_runs_total", "Queries completed, by outcome.",
                           {"outcome"})),
      running_(add_gauge(registry, "halite_query_running", "Queries running.")),
      waiting_(add_gauge(registry, "halite_query_waiting",
                         "Queries waiting in the queue because of query.running_max.")),
      points_read_(add_counter(registry, "halite_query_points_read_total",
                               "Stored points read by queries.")),
      points_out_(
          add_counter(registry, "halite_query_points_out_total", "Points returned by queries.")),
      seconds_(add_histogram(registry, "halite_query_run_seconds", "Time from query to answer.",
                             {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100})) {}

void RunStats::end(const QueryCost& cost, std::string_view outcome) {
  runs_.Add({{"outcome", std::string(outcome)}}).Increment();
  points_read_.Increment(static_cast<double>(cost.points_read));
  points_out_.Increment(static_cast<double>(cost.points_out));
  seconds_.Observe(cost.wall_ms / 1000);
}

}  // namespace halite::query
