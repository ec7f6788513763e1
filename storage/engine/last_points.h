// The newest point of each series of a selection in one shard: looks into the newest slots first.
#pragma once

#include <memory>
#include <vector>

#include "storage/engine/core.h"
#include "storage/engine/cursor.h"
#include "storage/row_selection.h"

namespace halite::storage::engine {

// From memory alone (cursor.h) it takes little time, and what it cannot tell so is kUnavailable.
[[nodiscard]] Result<std::vector<LastPoint>> find_last_points(Core& core,
                                                              const RowSelection& selection,
                                                              TimeRange range, std::uint32_t shard,
                                                              ReadFrom from);

}  // namespace halite::storage::engine
