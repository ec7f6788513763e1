// Estimates the cost of reading a selection, from the heads and from the headers of some chunks.
#pragma once

#include "storage/catalog/selection.h"
#include "storage/tsdb/core/engine_context.h"

namespace halite::storage::engine {

// As PointStore::estimate(). Examines at most kEstimatedSeries of the selected series and
// extrapolates. A chunk at the edge of the range counts fully. Blocks.
inline constexpr std::size_t kEstimatedSeries = 64;
[[nodiscard]] Result<ReadEstimate> estimate_reading(EngineContext& context,
                                                    const RowSelection& selection, TimeRange range);

}  // namespace halite::storage::engine
