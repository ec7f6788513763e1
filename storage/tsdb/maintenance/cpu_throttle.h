// Limits one thread's work to a share of a core.
//
//   Threads  for the working thread only.
#pragma once

#include <chrono>
#include <cstdint>

namespace halite::storage::engine {

class CpuThrottle {
 public:
  static constexpr std::uint32_t kAll = 100;

  explicit CpuThrottle(std::uint32_t percent);  // 1 to 100

  [[nodiscard]] bool is_all() const { return percent_ >= kAll; }

  // How long the thread should pause now for its work so far; 0 if the pause would be short.
  [[nodiscard]] std::chrono::milliseconds pause_due() const;

  // Excludes other work of the thread from the share while this object lives.
  class Excluded {
   public:
    explicit Excluded(CpuThrottle& share) : share_(share), begin_(thread_cpu()) {}
    ~Excluded() { share_.cpu_before_ += thread_cpu() - begin_; }
    Excluded(const Excluded&) = delete;

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
