#include "app/server/memory_rebalancer.h"

#include <chrono>
#include <utility>

#include "common/metrics.h"
#include "common/threads/thread_name.h"

namespace halite::app {

MemoryRebalancer::MemoryRebalancer(std::uint64_t limit, std::vector<MemoryShare> shares,
                                   prometheus::Registry& registry)
    : budget_(limit, std::move(shares)) {
  for (const MemoryBudget::Share& share : budget_.shares()) {
    const prometheus::Labels labels{{"setting", share.is.user.setting}};
    gauges_.push_back(
        {.bytes = add_gauge(registry, "halite_memory_share_bytes",
                            "Present size of a share of the memory limit. Shares that no source "
                            "has set move to where they are needed.",
                            labels),
         .used = add_gauge(registry, "halite_memory_used_bytes",
                           "Memory in use of a share of the memory limit.", labels)});
  }
}

MemoryRebalancer::~MemoryRebalancer() { stop(); }

void MemoryRebalancer::start() {
  show();
  thread_ = std::jthread([this](const std::stop_token& stop) {
    name_this_thread("memory");
    run(stop);
  });
}

void MemoryRebalancer::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void MemoryRebalancer::run(const std::stop_token& stop) {
  constexpr std::chrono::seconds kInterval(1);
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    budget_.rebalance();
    show();
    woken_.wait_for(lock, stop, kInterval, [] { return false; });
  }
}

void MemoryRebalancer::show() {
  for (std::size_t i = 0; i < gauges_.size(); ++i) {
    const MemoryBudget::Share& share = budget_.shares()[i];
    gauges_[i].bytes.Set(static_cast<double>(share.bytes));
    gauges_[i].used.Set(static_cast<double>(share.used));
  }
}

}  // namespace halite::app
