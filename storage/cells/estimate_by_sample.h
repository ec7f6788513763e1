// What reading a selection's points would take, where the rows are elsewhere and nobody keeps
// numbers about them: from some of its rows, read.
#pragma once

#include <memory>

#include "storage/cells/row_scan.h"

namespace halite::storage {

// As PointStore::estimate(): the selection's known series times the rows that each may have in the
// range, of which some are read: exact where they are no more than that. Bytes are those of cells
// as they are sent.
Task<ReadEstimate> estimate_by_sample(const RowSource& source,
                                      std::shared_ptr<const RowSelection> selection,
                                      TimeRange range);

}  // namespace halite::storage
