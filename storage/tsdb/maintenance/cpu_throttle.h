// Keeps one thread's work to a share of a core.
//
//   Threads  for the one thread that works.
#pragma once

#include <chrono>
#include <cstdint>

namespace halite::storage::engine {

class CpuThrottle {
 public:
  static constexpr std::uint32_t kAll = 100;

  explicit CpuThrottle(std::uint32_t percent);  // 1 to 100

  [[nodiscard]] bool is_all() const { return percent_ >= kAll; }

  // How long the thread should now pause for what it has worked since this was made; 0 while that
  // is little.
  [[nodiscard]] std::chrono::milliseconds pause_due() const;

  // Other work of the thread, as long as this lives: its time is not the share's.
  class Excluded {
   public:
    explicit Excluded(CpuThrottle& share) : share_(share), begin_(thread_cpu()) {}
    ~Excluded() { share_.cpu_before_ += thread_cpu() - begin_; }
    Excluded(const Excluded&) = delete;
    Excluded& operator=(const Excluded&) = delete;

   private:
    CpuThrottle& share_;
    const std::chrono::nanoseconds begin_;
  };

 private:
  [[nodiscard]] static std::chrono::nanoseconds thread_cpu();

  const std::uint32_t percent_;
  const std::chrono::steady_clock::time_point since_;
  std::chrono::nanoseconds cpu_before_;
};

}  // namespace halite::storage::engine
