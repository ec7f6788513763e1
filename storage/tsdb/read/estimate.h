// What reading a selection would take: counted in the head, told from headers of some chunks.
#pragma once

#include "storage/catalog/selection.h"
#include "storage/tsdb/core/engine_context.h"

namespace halite::storage::engine {

// As PointStore::estimate(). Looks at no more than kEstimatedSeries of the selection's series and
// takes the others to be alike; a chunk at the edge of the range counts whole. Blocks.
inline constexpr std::size_t kEstimatedSeries = 64;
[[nodiscard]] Result<ReadEstimate> estimate_reading(EngineContext& context,
                                                    const RowSelection& selection, TimeRange range);

}  // namespace halite::storage::engine
