// Deletes: what hides the points that are in chunks.
//
//   Threads  blocks; on the maintenance thread, after a flush.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/engine/core.h"
#include "storage/row_selection.h"

namespace halite::storage::engine {

// The cells that hide the stored points of the selection in the range: tombstones with this flush
// number, in the order of their keys, a file a shard; and how many points they hide.
struct Deletion {
  std::vector<std::unique_ptr<ChunkFile>> files;
  ChunkDb::Changes changes;
  std::uint64_t points = 0;
};
[[nodiscard]] Result<Deletion> delete_stored(Core& core, const RowSelection& selection,
                                             TimeRange range, std::uint64_t flush_number);

}  // namespace halite::storage::engine
