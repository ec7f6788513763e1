// Estimates the cost of reading a selection from a sample of its rows, for remote rows without
// statistics.
#pragma once

#include <memory>

#include "storage/cells/row_scan.h"

namespace halite::storage {

// See PointStore::estimate(). Multiplies the known series by the possible rows of each in the
// range, and reads a sample of those rows; exact if the sample has all of them. Bytes are those of
// cells as sent.
Task<ReadEstimate> estimate_by_sample(const RowSource& source,
                                      std::shared_ptr<const RowSelection> selection,
                                      TimeRange range);

}  // namespace halite::storage
