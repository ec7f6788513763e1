// Stores a part, again and again while the target is busy.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "app/bulk/import_target.h"
#include "common/result.h"

namespace halite::app {

// How long it is tried again, and with which pauses.
struct RetryTimes {
  std::chrono::milliseconds total{600'000};
  std::chrono::milliseconds pause_min{500};  // doubles with each attempt
  std::chrono::milliseconds pause_max{15'000};
  std::chrono::milliseconds pause_asked_max{120'000};  // of what the target asks for
};

// Stores the part. While the target is unavailable or overloaded, or refuses points for now, makes
// the same part again and stores that, not before the time that the target asks for: the whole,
// because of two points with equal times the later must stay the later one. kOverloaded: the target
// still refuses points for now. Blocks.
[[nodiscard]] Result<ingest::Imported> store_patiently(
    std::unique_ptr<ImportPart> part, const std::function<std::unique_ptr<ImportPart>()>& again,
    const RetryTimes& times);

}  // namespace halite::app
