// Metrics of this process from the operating system, in the registry.
#pragma once

#include <chrono>
#include <cstdint>

#include "common/clock.h"

namespace prometheus {
class Counter;
class Gauge;
class Registry;
}  // namespace prometheus

namespace halite::app {

// One thread may refresh while others read the registry.
class ProcessMetrics {
 public:
  // The clock outlives this object. memory_limit: in bytes, shown beside the memory in use.
  ProcessMetrics(prometheus::Registry& registry, const Clock& clock, std::uint64_t memory_limit);

  void refresh();

 private:
  const Clock& clock_;
  prometheus::Counter& cpu_seconds_;
  prometheus::Gauge& resident_bytes_;
  prometheus::Gauge& open_files_;
  prometheus::Gauge& threads_;
  prometheus::Gauge& uptime_seconds_;
  prometheus::Gauge& time_seconds_;
  prometheus::Counter& log_lines_dropped_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace halite::app
