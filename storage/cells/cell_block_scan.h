// The points of a selection in one shard, as blocks: rows, decoded; and the annotations in them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/api/point_store.h"
#include "storage/cells/row_scan.h"

namespace halite::storage {

class CellBlockScan final : public BlockScan {
 public:
  // `notes`: blocks bring the annotations of their rows.
  CellBlockScan(const RowLayout& layout, std::unique_ptr<RowScan> rows, bool notes = false);

  Task<std::vector<Block>> next() override;

 private:
  Result<void> decode(const WantedRow& row, std::vector<Block>& blocks);

  const RowLayout& layout_;
  const std::unique_ptr<RowScan> rows_;
  const bool notes_;
  RowPoints points_;            // of the row at hand; kept for its memory
  bool row_had_block_ = false;  // the row whose pieces are coming
};

}  // namespace halite::storage
