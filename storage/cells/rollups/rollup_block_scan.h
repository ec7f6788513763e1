// Decodes the rollups of a selection in one shard into blocks.
#pragma once

#include <memory>
#include <vector>

#include "storage/api/point_store.h"
#include "storage/cells/row_scan.h"

namespace halite::storage {

class RollupBlockScan final : public BlockScan {
 public:
  // With `counts`, returns only times that have both, with their counts. The layouts must outlive
  // the scan.
  RollupBlockScan(const RowLayout& values, const RowLayout* counts, std::unique_ptr<RowScan> rows)
      : values_layout_(values), counts_layout_(counts), rows_(std::move(rows)) {}

  Task<std::vector<Block>> next() override;

 private:
  Result<void> decode(const WantedRow& row, std::vector<Block>& blocks);
  Result<bool> read(const WantedRow& row);

  const RowLayout& values_layout_;
  const RowLayout* counts_layout_;
  const std::unique_ptr<RowScan> rows_;
  RowPoints values_;  // of the current row; reused
  RowPoints counts_;
};

}  // namespace halite::storage
