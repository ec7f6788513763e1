// What a batch of row writes comes to, as HBase's mutations: a row once, a cell once.
//
// HBase writes the rows of a batch in no order, and of two cells with one time it keeps either, so
// repeated ones are settled here by the seam's rule: the greatest time wins, then the last written.
#pragma once

#include <vector>

#include "storage/api/wide_column.h"
#include "storage/backends/hbase/messages/data.h"
#include "storage/backends/shared/hybrid_clock.h"

namespace halite::storage {

// Cells without a time get the clock's. Deletes come out with time 0: stamp_deletes() gives them
// theirs. `families`: their names. The rows have passed check_writes().
[[nodiscard]] std::vector<hbase::RowMutation> mutations_of(std::vector<RowWrite> rows,
                                                           const std::vector<Bytes>& families,
                                                           HybridClock& clock);

// Deletes hide what is as old as `until`; cells that the same mutation puts into the same columns
// come after that.
void stamp_deletes(hbase::RowMutation& row, TimestampMs until);

// Deletes of those cells of rows that are newer than `until`, each of its version alone: what is
// written later is not hidden, however much older. Rows without such cells are left out.
[[nodiscard]] std::vector<hbase::RowMutation> deletes_of_newer(const std::vector<hbase::Row>& rows,
                                                               TimestampMs until);

}  // namespace halite::storage
