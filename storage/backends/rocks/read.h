// Reads rows by their keys. Blocks.
#pragma once

#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "storage/api/wide_column.h"
#include "storage/backends/rocks/database.h"

namespace halite::storage::rocks {

// See Table::read(). The caller has checked the reads. Each row is consistent.
[[nodiscard]] Result<std::vector<Row>> read_rows(Database& database,
                                                 const std::vector<FamilyHandle>& families,
                                                 std::vector<RowRead> reads, TimestampMs now);

}  // namespace halite::storage::rocks
