// Converts a batch of row writes to HBase's mutations, with each row and each cell once.
//
// HBase writes the rows of a batch in any order, and keeps any of two cells with one time. So
// repeated cells are resolved here by the store's rule: the greatest time wins, then the last
// written.
#pragma once

#include <vector>

#include "storage/api/wide_column.h"
#include "storage/backends/hbase/messages/data.h"
#include "storage/backends/shared/hybrid_clock.h"

namespace halite::storage {

// Cells without a time get the clock's. Deletes have time 0 until stamp_deletes() sets it.
// `families` contains their names. The rows have passed check_writes().
[[nodiscard]] std::vector<hbase::RowMutation> mutations_of(std::vector<RowWrite> rows,
                                                           const std::vector<Bytes>& families,
                                                           HybridClock& clock);

// Deletes hide all cells with a time of `until` or before. Cells that the mutation puts into those
// columns get later times.
void stamp_deletes(hbase::RowMutation& row, TimestampMs until);

// Deletes for the cells of rows that are newer than `until`, each for its version only, so they
// hide nothing that is written later. Omits rows without such cells.
[[nodiscard]] std::vector<hbase::RowMutation> deletes_of_newer(const std::vector<hbase::Row>& rows,
                                                               TimestampMs until);

}  // namespace halite::storage
