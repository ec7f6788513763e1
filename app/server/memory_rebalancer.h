// Moves the shares of memory.limit to where they are needed, once a second, and shows them as
// metrics.
//
//   Threads   a separate thread works between start() and stop().
//   Lifetime  the registry and the users of the shares outlive this object, or its stop().
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "common/memory_budget.h"

namespace prometheus {
class Gauge;
class Registry;
}  // namespace prometheus

namespace halite::app {

class MemoryRebalancer {
 public:
  MemoryRebalancer(std::uint64_t limit, std::vector<MemoryShare> shares,
                   prometheus::Registry& registry);
  ~MemoryRebalancer();  // stops
  MemoryRebalancer(const MemoryRebalancer&) = delete;

  void start();
  void stop();  // waits for a resize that runs

 private:
  struct Gauges {
    prometheus::Gauge& bytes;
    prometheus::Gauge& used;
  };

  void run(const std::stop_token& stop);
  void show();

  MemoryBudget budget_;         // used by thread_
  std::vector<Gauges> gauges_;  // one for each share
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;
};

}  // namespace halite::app
