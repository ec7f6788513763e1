// The chunk database of an engine: its tables, the states of its slots, and the classes that read
// and change them. Pass on only the member that is needed.
//
//   Errors   kUnavailable with RocksDB's text; kCorruption for an invalid state.
#pragma once

#include <memory>

#include "common/result.h"
#include "storage/tsdb/chunk_db/chunk_files.h"
#include "storage/tsdb/chunk_db/chunk_tables.h"
#include "storage/tsdb/chunk_db/chunk_views.h"
#include "storage/tsdb/chunk_db/slot_states.h"

namespace halite::storage::engine {

struct ChunkDb {
  // With options.read_only you must not change anything.
  static Result<std::unique_ptr<ChunkDb>> open(const ChunkDbOptions& options);
  explicit ChunkDb(std::unique_ptr<ChunkTables> opened);
  ~ChunkDb();
  Result<void> close();  // once, after the last view

  const std::unique_ptr<ChunkTables> tables;
  SlotStates states;
  ChunkViews views;
  ChunkFiles files;
};

}  // namespace halite::storage::engine
