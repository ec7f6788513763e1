// Several scans of one shard as one, each of other series.
#pragma once

#include <memory>
#include <vector>

#include "storage/api/point_store.h"

namespace halite::storage {

// Asks all of them for their next blocks at a time, and gives what they say together.
class ParallelScan final : public BlockScan {
 public:
  explicit ParallelScan(std::vector<std::unique_ptr<BlockScan>> scans);

  Task<std::vector<Block>> next() override;

 private:
  std::vector<std::unique_ptr<BlockScan>> scans_;  // that are not finished
};

}  // namespace halite::storage
