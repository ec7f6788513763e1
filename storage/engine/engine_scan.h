// The points of a selection in one shard, from chunks and the head: groups of series at a time, a
// group's slots in the order of their times.
//
//   Threads  for one coroutine at a time; the reading runs on the engine's own threads.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "storage/engine/core.h"
#include "storage/engine/slot_reader.h"
#include "storage/row_selection.h"

namespace halite::storage::engine {

class EngineScan final : public BlockScan {
 public:
  // The range is clipped to what is alive now.
  EngineScan(std::shared_ptr<Core> core, std::shared_ptr<const RowSelection> selection,
             TimeRange range, std::uint32_t shard);
  ~EngineScan() override;

  Task<std::vector<Block>> next() override;

 private:
  class Reader;  // what runs on the engine's threads
  const std::shared_ptr<Core> core_;
  std::shared_ptr<Reader> reader_;
};

}  // namespace halite::storage::engine
