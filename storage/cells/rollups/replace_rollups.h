// Replaces rollups of a time: afterwards the table contains the given ones and no others.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/data_point.h"
#include "common/threads/task.h"
#include "storage/api/wide_column.h"
#include "storage/cells/layouts/tsuid.h"
#include "storage/cells/rollups/rollup_tables.h"

namespace halite::storage {

struct RollupTotal {
  Bytes tsuid;
  std::uint8_t aggregator = 0;  // its id
  std::int64_t time_s = 0;
  ValueBits value = 0;
  std::uint8_t flags = 0;  // PointFlag bits
};

struct RollupReplacement {
  const RollupTableConfig* table = nullptr;  // of the config of the RollupTables
  bool pre_aggregated = false;
  Bytes metric;     // uid
  TimeRange times;  // whole intervals
  // Whether cells of this series and aggregator are replaced.
  std::function<bool(const SeriesUids&, std::uint8_t aggregator)> replaces;
  std::vector<RollupTotal> totals;  // of the metric, in the times, and replaced
  // Called before each write, for its end. An error ends the replacement.
  std::function<Result<WriteEnd>()> may_write;
  // Called for each stored row whose key is not that of a rollup. The row is left as it is.
  std::function<void(BytesView key, const Error& why)> unreadable;
};

// Cells that have the right bytes already are not written. A row is replaced atomically, not the
// whole. `tables` must outlive the task. kInvalidArgument: no row can contain a total's time.
Task<void> replace_rollups(const RollupTables& tables, RollupReplacement replacement);

}  // namespace halite::storage
