// Consistent views of the chunks for queries and rewrites.
//
//   Threads  call from any thread, but renew() and close() from one at a time.
//   Errors   kUnavailable with RocksDB's text.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/tsdb/chunk_db/chunk_snapshot.h"
#include "storage/tsdb/chunk_db/slot_states.h"

namespace halite::storage::engine {

class ChunkViews {
 public:
  ChunkViews(const ChunkTables& tables, const SlotStates& states)
      : tables_(tables), states_(states) {}

  // The current state of a shard, for a query. Cheap.
  [[nodiscard]] std::unique_ptr<ShardView> shard_view(std::uint32_t shard, ReadSource from) const;

  // The chunks in [begin, end) and the flush mark, unaffected by later ingests. For a rewrite:
  // takes no RocksDB snapshot, which would make compactions keep removed cells.
  struct View {
    FlushMark mark;
    std::unique_ptr<Cursor> cursor;
  };
  [[nodiscard]] Result<View> view(BytesView begin, BytesView end) const;

  // The current late cells in [begin, end).
  [[nodiscard]] std::unique_ptr<Cursor> late_cells(BytesView begin, BytesView end) const;

  // Whether a cell of points has this key prefix, or that cannot be read.
  [[nodiscard]] bool any_with(BytesView prefix) const;

  // Makes everything ingested so far visible to later queries. Running ones keep their view.
  Result<void> renew();
  void close();

 private:
  const ChunkTables& tables_;
  const SlotStates& states_;
  mutable std::mutex mutex_;
  std::shared_ptr<Snapshot> snapshot_;  // of the newest state; guarded by mutex_
};

}  // namespace halite::storage::engine
