// The newest point of each series of a selection: looks backwards from a range's end, a little
// further each time, for the series that have none yet.
#pragma once

#include <memory>
#include <vector>

#include "storage/cells/row_scan.h"

namespace halite::storage {

// In one shard, by series id.
Task<std::vector<LastPoint>> find_last_points(const RowSource& source,
                                              std::shared_ptr<const RowSelection> selection,
                                              TimeRange range, std::uint32_t shard);

}  // namespace halite::storage
