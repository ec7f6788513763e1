// What a scan would read, from RocksDB's own approximations. Blocks for some index reads.
#pragma once

#include <vector>

#include "common/result.h"
#include "storage/api/wide_column.h"
#include "storage/backends/rocks/database.h"

namespace halite::storage::rocks {

// As Table::estimate(). Bytes come from the files' indexes and the memtables; cells of files from
// their bytes by the family's average, cells of memtables from the memtables.
[[nodiscard]] Result<RangeEstimate> estimate_ranges(Database& database, const FamilyHandle& family,
                                                    const std::vector<KeyRange>& ranges);

}  // namespace halite::storage::rocks
