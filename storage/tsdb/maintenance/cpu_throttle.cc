#include "storage/tsdb/maintenance/cpu_throttle.h"

#include <ctime>

#include "common/check.h"

namespace halite::storage::engine {
namespace {

// Shorter pauses are not worthwhile.
constexpr std::chrono::milliseconds kPauseMin{20};

}  // namespace

CpuThrottle::CpuThrottle(std::uint32_t percent)
    : percent_(percent), since_(std::chrono::steady_clock::now()), cpu_before_(thread_cpu()) {
  HALITE_CHECK(percent >= 1 && percent <= kAll, "a share of a core is 1 to 100 percent");
}

std::chrono::nanoseconds CpuThrottle::thread_cpu() {
  timespec time{};
  HALITE_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0, "threads have a CPU clock");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::chrono::milliseconds CpuThrottle::pause_due() const {
  const auto cpu = thread_cpu() - cpu_before_;
  const auto passed = std::chrono::steady_clock::now() - since_;
  const auto due = cpu * kAll / percent_ - passed;
  const auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(due);
  return pause < kPauseMin ? std::chrono::milliseconds(0) : pause;
}

}  // namespace halite::storage::engine
