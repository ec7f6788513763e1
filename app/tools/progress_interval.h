// Spaces the progress lines of a tool: one every two seconds, the first only if the work takes
// long.
#pragma once

#include <chrono>

namespace halite::app {

class ProgressInterval {
 public:
  // Whether to print a line now.
  [[nodiscard]] bool due() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::seconds(2)) return false;
    last_ = now;
    return true;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace halite::app
