// Estimates the size of a scan from RocksDB's approximations. Blocks for a few index reads.
#pragma once

#include <vector>

#include "common/result.h"
#include "storage/api/wide_column.h"
#include "storage/backends/rocks/database.h"

namespace halite::storage::rocks {

// See Table::estimate(). Bytes come from file indexes and memtables. Cells in files are their bytes
// divided by the family's average; cells in memtables come from the memtables.
[[nodiscard]] Result<RangeEstimate> estimate_ranges(Database& database, const FamilyHandle& family,
                                                    const std::vector<KeyRange>& ranges);

}  // namespace halite::storage::rocks
