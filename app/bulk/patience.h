// How long a target is asked again that cannot store now, and with which pauses.
#pragma once

#include <chrono>

#include "common/result.h"
#include "ingest/import/import_batch.h"

namespace halite::app {

struct RetryTimes {
  std::chrono::milliseconds total{600'000};
  std::chrono::milliseconds pause_min{500};  // doubles with each attempt
  std::chrono::milliseconds pause_max{15'000};
};

class Patience {
 public:
  explicit Patience(const RetryTimes& times) : times_(times), pause_(times.pause_min) {}

  // Whether to store the same again: the target is unavailable or overloaded, or refuses points for
  // now. Waits before it returns true.
  [[nodiscard]] bool try_again(const Result<ingest::Imported>& imported);

 private:
  const RetryTimes times_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::milliseconds pause_;
};

}  // namespace halite::app
