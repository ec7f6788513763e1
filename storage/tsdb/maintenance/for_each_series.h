// Iterates over series (storage/api/series_iterator.h) on the maintenance thread.
#pragma once

#include "common/threads/run_here.h"
#include "storage/api/series_iterator.h"
#include "storage/tsdb/chunk_db/yield.h"

namespace halite::storage::engine {

// Calls visit(tsuid) for all series, and yields between batches.
template <class Visit>
[[nodiscard]] Result<void> for_each_series(SeriesIterator& walk, const YieldFn& yield,
                                           Visit visit) {
  for (;;) {
    TRY(const auto some, run_here(walk.next()));
    if (!some) return {};
    for (const Bytes& tsuid : *some) visit(BytesView(tsuid));
    TRY_VOID(yield_or_stop(yield));
  }
}

}  // namespace halite::storage::engine
