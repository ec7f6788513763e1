// Decodes rows of ordinary cells, one for each point and in time order: nearly all rows of
// OpenTSDB's layout.
#pragma once

#include <span>

#include "storage/api/cells.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

// Appends the points that lie in `range`. Returns false and leaves `out` unchanged if a cell has
// several points or none, is damaged, or is not later than the previous one.
[[nodiscard]] bool read_plain_cells(TimestampMs base_ms, std::span<const CellRef> cells,
                                    TimeRange range, RowPoints& out);

}  // namespace halite::storage
