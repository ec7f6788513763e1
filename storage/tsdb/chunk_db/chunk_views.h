// Views of the chunks: what a question or a rewrite reads, as of one moment.
//
//   Threads  any call from any thread, but renew() and close() by one at a time.
//   Errors   kUnavailable with RocksDB's text.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/tsdb/chunk_db/chunk_snapshot.h"
#include "storage/tsdb/chunk_db/slot_states.h"

namespace halite::storage::engine {

class ChunkViews {
 public:
  ChunkViews(const ChunkTables& tables, const SlotStates& states)
      : tables_(tables), states_(states) {}

  // A shard as it is now, for a question: costs next to nothing.
  [[nodiscard]] std::unique_ptr<ShardView> shard_view(std::uint32_t shard, ReadSource from) const;

  // The chunks in [begin, end) and the mark, as they are now and stay whatever is ingested later.
  // For a rewrite: takes no RocksDB snapshot, which would make merges keep what was dropped.
  struct View {
    FlushMark mark;
    std::unique_ptr<Cursor> cursor;
  };
  [[nodiscard]] Result<View> view(BytesView begin, BytesView end) const;

  // The late cells in [begin, end) as they are now.
  [[nodiscard]] std::unique_ptr<Cursor> late_cells(BytesView begin, BytesView end) const;

  // Whether a cell of points has a key with that prefix, or that cannot be read.
  [[nodiscard]] bool any_with(BytesView prefix) const;

  // Later questions see what is ingested by now. Those that run keep what they have.
  Result<void> renew();
  void close();

 private:
  const ChunkTables& tables_;
  const SlotStates& states_;
  mutable std::mutex mutex_;
  std::shared_ptr<Snapshot> snapshot_;  // of the newest state; guarded by mutex_
};

}  // namespace halite::storage::engine
