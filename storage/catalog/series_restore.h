// Adds series of a log to memory at a start, under the ids that they have there.
//
//   Threads  several batches at the same time; nothing else uses the table meanwhile.
//   Errors   kNotFound: a name is missing; then none of the series was added. kConflict: one of the
//            series is there already.
#pragma once

#include <cstdint>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/threads/task.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/catalog/series_table.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

// A series of a log, with its id and shard there.
struct LoggedSeries {
  SeriesId id = 0;
  std::uint32_t shard = 0;
  BytesView tsuid;
};

// Adds some thousands of series: a batch looks up what they share once. Fastest if series with the
// same tags follow each other. The arguments and the views must outlive the task.
[[nodiscard]] Task<void> restore_series(SeriesTable& table, UidTable& uids, UidWidths widths,
                                        const std::vector<LoggedSeries>& series);

}  // namespace halite::storage
