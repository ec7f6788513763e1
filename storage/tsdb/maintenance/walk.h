// Walks of series (storage/api/series_walk.h) on the maintenance thread.
#pragma once

#include "common/run_here.h"
#include "storage/api/series_walk.h"
#include "storage/tsdb/chunk_db/breathe.h"

namespace halite::storage::engine {

// Calls visit(tsuid) for all, and breathes between two parts of the walk.
template <class Visit>
[[nodiscard]] Result<void> each_of(SeriesWalk& walk, const Breathe& breathe, Visit visit) {
  for (;;) {
    TRY(const auto some, run_here(walk.next()));
    if (!some) return {};
    for (const Bytes& tsuid : *some) visit(BytesView(tsuid));
    TRY_VOID(go_on(breathe));
  }
}

}  // namespace halite::storage::engine
