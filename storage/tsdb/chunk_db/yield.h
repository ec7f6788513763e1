// How long work on the maintenance thread lets through what cannot wait for its end: flushes above
// all, for while none comes heads fill and then writers wait.
#pragma once

#include <functional>

#include "common/result.h"

namespace halite::storage::engine {

// Called between two small pieces of work: does what is more urgent, and pauses where the work is
// to be slow. Chunks, heads and lines of slots may be others afterwards. False: the work should end
// here.
using YieldFn = std::function<Result<bool>()>;

// For work that has nothing to keep where it ends early: kUnavailable where it should. An empty one
// lets nothing through.
[[nodiscard]] inline Result<void> yield_or_stop(const YieldFn& yield) {
  if (!yield) return {};
  TRY(const bool goes_on, yield());
  if (goes_on) return {};
  return fail(Errc::kUnavailable, "the store is closed");
}

}  // namespace halite::storage::engine
