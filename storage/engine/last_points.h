// The newest point of each series of a selection in one shard: looks into the newest slots first.
#pragma once

#include <memory>
#include <vector>

#include "storage/engine/core.h"
#include "storage/row_selection.h"

namespace halite::storage::engine {

// Blocks.
[[nodiscard]] Result<std::vector<LastPoint>> find_last_points(Core& core,
                                                              const RowSelection& selection,
                                                              TimeRange range, std::uint32_t shard);

}  // namespace halite::storage::engine
