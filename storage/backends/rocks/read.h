// Reads rows by their keys. Blocks.
#pragma once

#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "storage/api/wide_column.h"
#include "storage/backends/rocks/database.h"

namespace halite::storage::rocks {

// As Table::read(). The reads have been checked. Each row is seen as of one moment.
[[nodiscard]] Result<std::vector<Row>> read_rows(Database& database,
                                                 const std::vector<FamilyHandle>& families,
                                                 std::vector<RowRead> reads, TimestampMs now);

}  // namespace halite::storage::rocks
