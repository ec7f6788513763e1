// Decodes the rows of a selection in one shard into blocks, with their annotations.
#pragma once

#include <memory>
#include <vector>

#include "storage/api/point_store.h"
#include "storage/cells/row_scan.h"

namespace halite::storage {

class CellBlockScan final : public BlockScan {
 public:
  // `notes`: blocks include the annotations of their rows.
  CellBlockScan(const RowLayout& layout, std::unique_ptr<RowScan> rows, bool notes = false);

  Task<std::vector<Block>> next() override;

 private:
  Result<void> decode(const WantedRow& row, std::vector<Block>& blocks);

  const RowLayout& layout_;
  const std::unique_ptr<RowScan> rows_;
  const bool notes_;
  RowPoints points_;            // of the current row; reused
  bool row_had_block_ = false;  // the current row, which may have more pieces
};

}  // namespace halite::storage
