// What a start looks at before it opens the store of names.
//
//   Threads  the data directory is locked; blocks. Changes nothing.
#pragma once

#include "app/options.h"
#include "common/result.h"

namespace halite::app {

// kConflict where points are there and nothing of names is. Opening their store would make an empty
// one, and leave it beside the points when the start is refused for that.
[[nodiscard]] Result<void> refuse_missing_names(const Options& options);

}  // namespace halite::app
