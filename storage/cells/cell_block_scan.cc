#include "storage/cells/cell_block_scan.h"

#include <algorithm>

#include "storage/cells/layouts/annotation_cell.h"

namespace halite::storage {

CellBlockScan::CellBlockScan(const RowLayout& layout, std::unique_ptr<RowScan> rows, bool notes)
    : layout_(layout), rows_(std::move(rows)), notes_(notes) {}

Task<std::vector<Block>> CellBlockScan::next() {
  std::vector<Block> blocks;
  while (blocks.empty()) {
    CO_TRY(const std::vector<WantedRow> rows, co_await rows_->next());
    if (rows.empty()) break;
    for (const WantedRow& row : rows) CO_TRY_VOID(decode(row, blocks));
  }
  co_return blocks;
}

Result<void> CellBlockScan::decode(const WantedRow& row, std::vector<Block>& blocks) {
  if (row.first_piece) row_had_block_ = false;
  points_.clear();
  TRY_VOID(layout_.decode(row.id, row.cells, row.times, points_));
  const std::size_t count = points_.times.size();
  const std::size_t blocks_before = blocks.size();
  for (std::size_t begin = 0; begin < count; begin += kBlockPointsMax) {
    const std::size_t end = std::min(begin + kBlockPointsMax, count);
    const auto first = static_cast<std::ptrdiff_t>(begin);
    const auto last = static_cast<std::ptrdiff_t>(end);
    Block block;
    block.series = row.series;
    for (std::size_t i = begin; i < end; ++i) {
      if ((points_.flags[i] & kFloat) != 0) block.floats.set(i - begin);
    }
    if (count <= kBlockPointsMax) {
      block.times = std::move(points_.times);
      block.values = std::move(points_.values);
    } else {
      block.times.assign(points_.times.begin() + first, points_.times.begin() + last);
      block.values.assign(points_.values.begin() + first, points_.values.begin() + last);
    }
    blocks.push_back(std::move(block));
  }
  if (count > 0) row_had_block_ = true;
  if (row.last_piece && !row_had_block_) {
    Block& empty = blocks.emplace_back();
    empty.series = row.series;
  }
  if (!notes_ || blocks.size() == blocks_before) return {};
  for (const CellRef& cell : row.cells) {
    if (is_annotation(cell.qualifier)) blocks[blocks_before].notes.emplace_back(cell.value);
  }
  return {};
}

}  // namespace halite::storage
