// Keeps one thread's work to a share of a core.
//
//   Threads  for the one thread that works.
#pragma once

#include <chrono>
#include <cstdint>

namespace halite::storage::engine {

class CpuShare {
 public:
  static constexpr std::uint32_t kAll = 100;

  explicit CpuShare(std::uint32_t percent);  // 1 to 100

  [[nodiscard]] bool is_all() const { return percent_ >= kAll; }

  // How long the thread should now pause for what it has worked since this was made; 0 while that
  // is little.
  [[nodiscard]] std::chrono::milliseconds owed() const;

 private:
  [[nodiscard]] static std::chrono::nanoseconds thread_cpu();

  const std::uint32_t percent_;
  const std::chrono::steady_clock::time_point since_;
  const std::chrono::nanoseconds cpu_before_;
};

}  // namespace halite::storage::engine
