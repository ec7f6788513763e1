// What the query engine counts of its runs.
#pragma once

#include <string_view>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "query/engine.h"

namespace halite::query {

class RunStats {
 public:
  explicit RunStats(prometheus::Registry& registry);

  // One that waits for its turn, as long as it lives.
  class Waiting {
   public:
    explicit Waiting(RunStats& stats) : gauge_(stats.waiting_) { gauge_.Increment(); }
    ~Waiting() { gauge_.Decrement(); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    prometheus::Gauge& gauge_;
  };

  void begin() { running_.Increment(); }
  void give_up() { running_.Decrement(); }  // it begins anew
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
