// A check before a start opens the store of names.
//
//   Threads  requires the locked data directory; blocks. Changes nothing.
#pragma once

#include "app/settings/options.h"
#include "common/result.h"

namespace halite::app {

// kConflict if points exist but no names. To open the store of names would create an empty one and
// leave it beside the points after the refusal.
[[nodiscard]] Result<void> refuse_missing_names(const Options& options);

}  // namespace halite::app
