// The chunks of an engine: the database, the states of its slots, and what reads and changes them.
// Code that needs one part takes that part, not all of it.
//
//   Errors   kUnavailable with RocksDB's text; kCorruption for a state that is none.
#pragma once

#include <memory>

#include "common/result.h"
#include "storage/tsdb/chunk_db/chunk_files.h"
#include "storage/tsdb/chunk_db/chunk_tables.h"
#include "storage/tsdb/chunk_db/chunk_views.h"
#include "storage/tsdb/chunk_db/slot_states.h"

namespace halite::storage::engine {

struct ChunkDb {
  // With options.read_only nothing may be changed.
  static Result<std::unique_ptr<ChunkDb>> open(const ChunkDbOptions& options);
  explicit ChunkDb(std::unique_ptr<ChunkTables> opened);
  ~ChunkDb();
  Result<void> close();  // once; no view is left

  const std::unique_ptr<ChunkTables> tables;
  SlotStates states;
  ChunkViews views;
  ChunkFiles files;
};

}  // namespace halite::storage::engine
