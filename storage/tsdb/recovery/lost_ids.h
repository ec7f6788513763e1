// Prevents new names from getting the UIDs of lost names, when a directory is opened without those
// names.
//
//   Threads  one at a time; blocks.
#pragma once

#include <cstdint>
#include <memory>

#include "common/threads/task.h"
#include "storage/api/wide_column.h"
#include "storage/cells/layouts/row_layout.h"
#include "storage/tsdb/chunk_db/chunk_views.h"
#include "storage/tsdb/core/reserved_ids.h"

namespace halite::storage::engine {

struct StoredIds {
  const ChunkViews& chunks;
  std::shared_ptr<Table> names;
  UidWidths widths;
  std::uint32_t shard_count = 0;
};

// Reserves all UIDs that the counters or the chunks show as assigned, durably. `kept` must outlive
// the task. Reads the key of every chunk. If some keys cannot be read, reserves many more UIDs.
[[nodiscard]] Task<void> keep_lost_ids(const ReservedIds& kept, StoredIds stored);

}  // namespace halite::storage::engine
