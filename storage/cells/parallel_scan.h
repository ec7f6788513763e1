// Combines several scans of one shard, each of different series.
#pragma once

#include <memory>
#include <vector>

#include "storage/api/point_store.h"

namespace halite::storage {

// Requests the next blocks of all scans in parallel and returns them together.
class ParallelScan final : public BlockScan {
 public:
  explicit ParallelScan(std::vector<std::unique_ptr<BlockScan>> scans);

  Task<std::vector<Block>> next() override;

 private:
  std::vector<std::unique_ptr<BlockScan>> scans_;  // those that are not finished
};

}  // namespace halite::storage
