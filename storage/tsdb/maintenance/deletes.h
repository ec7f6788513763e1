// Deletes: what hides the points that are in chunks.
//
// In three steps: the maintenance thread, after a flush, gives the delete a number; the read pool
// reads what there is to hide, a shard at a time, while flushes go on; the maintenance thread takes
// the tombstones in. What came after the first step has a higher number and stays. Until the last
// one nothing of the delete lasts, and nobody sees any of it.
//
//   Threads  all block: begin_delete() and finish_delete() are for the maintenance thread,
//            prepare_delete() for the read pool, one call at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "storage/catalog/selection.h"
#include "storage/tsdb/core/engine_context.h"
#include "storage/tsdb/maintenance/series_gc.h"

namespace halite::storage::engine {

// The cells that hide the stored points of a selection in a range: tombstones in the order of their
// keys, a file a shard; and how many points they hide.
struct Deletion {
  std::unique_ptr<const PendingDeletes::Pending> pending;  // until it is taken in, or there is none
  std::vector<std::unique_ptr<ChunkFile>> files;
  SlotChanges changes;
  std::vector<SeriesId> series;  // that lose points, by shard
  std::uint64_t points = 0;
};

// All that was appended before is in chunks.
void begin_delete(EngineContext& context, Deletion& deletion);
[[nodiscard]] Result<void> prepare_delete(EngineContext& context, const RowSelection& selection,
                                          TimeRange range, std::uint32_t shard, Deletion& deletion);
[[nodiscard]] Result<void> finish_delete(EngineContext& context, SeriesGc& series_gc,
                                         Deletion& deletion);

}  // namespace halite::storage::engine
