// Finds out that the tables of names and series have lost their last writes: a number is noted
// beside them, and then in the chunks, whenever the log is about to rely on them no more. RocksDB
// itself cannot tell a last write that rotted, or a log that is gone, from one that never was.
//
//   Threads  one at a time; blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/task.h"
#include "storage/api/wide_column.h"
#include "storage/tsdb/chunk_db/slot_states.h"

namespace halite::storage::engine {

class LostNamesCheck {
 public:
  explicit LostNamesCheck(std::shared_ptr<Table> settings) : settings_(std::move(settings)) {}

  // All names and series that chunks will need are in their tables, durably.
  [[nodiscard]] Result<void> note(SlotStates& chunks);

  struct Lost {
    std::string dir;      // of the engine, for the message
    bool accept = false;  // go on without them
  };
  // When the store is opened. kCorruption: names are lost, and what to do. False: they are, and
  // that is accepted; it stays so until note() is called.
  static Task<bool> check(std::shared_ptr<Table> settings, const SlotStates& chunks, Lost lost);

 private:
  const std::shared_ptr<Table> settings_;
};

}  // namespace halite::storage::engine
