// How long work on the maintenance thread lets urgent work run, above all flushes: without them
// heads fill up and writers wait.
#pragma once

#include <functional>

#include "common/result.h"

namespace halite::storage::engine {

// Called between two small pieces of work: does more urgent work, and pauses for throttling.
// Chunks, heads and unsealed ranges may change meanwhile. False: end the work here.
using YieldFn = std::function<Result<bool>()>;

// For work that can stop without saving anything: kUnavailable if it should stop. Does nothing
// without a function.
[[nodiscard]] inline Result<void> yield_or_stop(const YieldFn& yield) {
  if (!yield) return {};
  TRY(const bool goes_on, yield());
  if (goes_on) return {};
  return fail(Errc::kUnavailable, "the store is closed");
}

}  // namespace halite::storage::engine
