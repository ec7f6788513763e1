// Detects that the tables of names and series lost their last writes. note() stores a number beside
// the names, then in the chunks, before the write-ahead log may drop names. RocksDB cannot
// distinguish a damaged last write, or a missing log, from one that never existed.
//
//   Threads  one at a time; blocks.
#pragma once

#include <memory>
#include <string>

#include "common/threads/task.h"
#include "storage/api/wide_column.h"
#include "storage/tsdb/chunk_db/slot_states.h"

namespace halite::storage::engine {

class LostNamesCheck {
 public:
  explicit LostNamesCheck(std::shared_ptr<Table> settings) : settings_(std::move(settings)) {}

  // Call it when all names and series that chunks need are durable in their tables.
  [[nodiscard]] Result<void> note(SlotStates& chunks);

  struct Lost {
    std::string dir;      // of the engine, for the error message
    bool accept = false;  // continue without the lost names
  };
  // Call it when the store is opened. kCorruption: names are lost; the message says what to do.
  // False: names are lost and that is accepted, until note() is called.
  static Task<bool> check(std::shared_ptr<Table> settings, const SlotStates& chunks, Lost lost);

 private:
  const std::shared_ptr<Table> settings_;
};

}  // namespace halite::storage::engine
