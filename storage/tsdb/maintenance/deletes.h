// Deletes: hide stored points with tombstones.
//
// A delete has three steps. The maintenance thread flushes and assigns a flush number. The read
// pool reads what to hide, one shard at a time, while flushes continue. The maintenance thread
// ingests the tombstones. Points that arrive after the first step have a greater number and stay.
// Until the last step the delete is neither durable nor visible.
//
//   Threads  all calls block. begin_delete() and finish_delete() are for the maintenance thread,
//            prepare_delete() for the read pool, one call at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/catalog/selection.h"
#include "storage/tsdb/core/engine_context.h"
#include "storage/tsdb/maintenance/series_gc.h"

namespace halite::storage::engine {

// The tombstones that hide the stored points of a selection in a range, in key order, one file for
// each shard; and the number of hidden points.
struct Deletion {
  std::unique_ptr<const PendingDeletes::Pending> pending;  // until it is ingested; may be null
  std::vector<std::unique_ptr<ChunkFile>> files;
  SlotChanges changes;
  std::vector<SeriesId> series;  // that lose points, by shard
  std::uint64_t points = 0;
};

// Everything appended before must be in chunks.
void begin_delete(EngineContext& context, Deletion& deletion);
[[nodiscard]] Result<void> prepare_delete(EngineContext& context, const RowSelection& selection,
                                          TimeRange range, std::uint32_t shard, Deletion& deletion);
[[nodiscard]] Result<void> finish_delete(EngineContext& context, SeriesGc& series_gc,
                                         Deletion& deletion);

}  // namespace halite::storage::engine
