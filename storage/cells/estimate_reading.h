// Estimates the cost of reading a selection from the table's estimates of key ranges.
#pragma once

#include <memory>

#include "storage/cells/row_scan.h"

namespace halite::storage {

// See PointStore::estimate(). For series named by tsuid, estimates their rows. Otherwise estimates
// the metric's rows and multiplies by the selected fraction of its series. If the table cannot
// estimate, reads a sample of rows (storage/cells/estimate_by_sample.h).
Task<ReadEstimate> estimate_reading(const RowSource& source,
                                    std::shared_ptr<const RowSelection> selection, TimeRange range);

}  // namespace halite::storage
