// Rows of ordinary cells, one a point and in time order: nearly all rows of OpenTSDB's layout.
#pragma once

#include <span>

#include "storage/api/cells.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

// Appends the points that lie in `range`. False, with `out` as it was, where some cell is anything
// else: of several points or none, damaged, or not later than the one before it.
[[nodiscard]] bool read_plain_cells(TimestampMs base_ms, std::span<const CellRef> cells,
                                    TimeRange range, RowPoints& out);

}  // namespace halite::storage
