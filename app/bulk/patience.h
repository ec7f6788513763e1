// How long a target is asked again that cannot store now, and with which pauses.
#pragma once

#include <chrono>

#include "common/result.h"
#include "ingest/import/import_batch.h"

namespace halite::app {

class Patience {
 public:
  // Whether to store the same again, after a pause: the target is unavailable or overloaded, or
  // refuses points for now. False after ten minutes.
  [[nodiscard]] bool try_again(const Result<ingest::Imported>& imported);

  // Whether the error may pass.
  [[nodiscard]] static bool may_pass(const Error& error);

  // Waits, longer each time. False after ten minutes. `why` is logged.
  [[nodiscard]] bool pause(const std::string& why);

 private:
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::milliseconds next_{500};
};

}  // namespace halite::app
