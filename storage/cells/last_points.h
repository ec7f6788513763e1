// Finds the newest point of each selected series: reads backwards from the end of a range, in
// growing steps, for the series without a point so far.
#pragma once

#include <memory>
#include <vector>

#include "storage/cells/row_scan.h"

namespace halite::storage {

// In one shard, ordered by series id.
Task<std::vector<LastPoint>> find_last_points(const RowSource& source,
                                              std::shared_ptr<const RowSelection> selection,
                                              TimeRange range, std::uint32_t shard);

}  // namespace halite::storage
