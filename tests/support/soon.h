// Waits for what other threads bring about.
#pragma once

#include <chrono>
#include <thread>

#include "tests/support/sanitized.h"

namespace halite::test {

inline constexpr int kPatienceMs = kSanitized ? 60'000 : 10'000;

// Whether it becomes true before patience ends. It is asked again and again, so it should be cheap.
template <class Condition>
[[nodiscard]] bool soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace halite::test
