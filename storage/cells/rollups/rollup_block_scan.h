// The rollups of a selection in one shard, as blocks.
#pragma once

#include <memory>
#include <vector>

#include "storage/api/point_store.h"
#include "storage/cells/row_scan.h"

namespace halite::storage {

class RollupBlockScan final : public BlockScan {
 public:
  // With `counts` only times that have both are passed on, the counts beside the values. The
  // layouts outlive the scan.
  RollupBlockScan(const RowLayout& values, const RowLayout* counts, std::unique_ptr<RowScan> rows)
      : values_layout_(values), counts_layout_(counts), rows_(std::move(rows)) {}

  Task<std::vector<Block>> next() override;

 private:
  Result<void> decode(const WantedRow& row, std::vector<Block>& blocks);
  Result<bool> read(const WantedRow& row);

  const RowLayout& values_layout_;
  const RowLayout* counts_layout_;
  const std::unique_ptr<RowScan> rows_;
  RowPoints values_;  // of the row at hand; kept for their memory
  RowPoints counts_;
};

}  // namespace halite::storage
