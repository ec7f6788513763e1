// What reading a selection's points would take, from the table's estimate of key ranges.
#pragma once

#include <memory>

#include "storage/cells/row_scan.h"

namespace halite::storage {

// As PointStore::estimate(). Series named by tsuid: their own rows are estimated. Otherwise the
// metric's rows are, and the selection has as large a part of them as it has of the series. A table
// that cannot tell is asked for some of the rows (storage/cells/estimate_by_sample.h).
Task<ReadEstimate> estimate_reading(const RowSource& source,
                                    std::shared_ptr<const RowSelection> selection, TimeRange range);

}  // namespace halite::storage
