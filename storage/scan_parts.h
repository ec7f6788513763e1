// One shard's rows read in parts, side by side: where rows are elsewhere, one scan waits for one
// server, and that for one of its processors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "storage/point_store.h"
#include "storage/row_scan.h"

namespace halite::storage {

// Cuts the selection's series of a shard where the parts have about as many series that are known.
// One part, without bounds, where that would not pay: RowScanOptions.
[[nodiscard]] std::vector<PairSpan> cut_series(const RowSource& source,
                                               const RowSelection& selection, TimeRange range,
                                               std::uint32_t shard);

// All parts begin with the first next(); then they are asked in turn. No series is in two of them.
class SideBySideScan final : public BlockScan {
 public:
  explicit SideBySideScan(std::vector<std::unique_ptr<BlockScan>> parts)
      : parts_(std::move(parts)) {}

  Task<std::vector<Block>> next() override;

 private:
  Task<std::vector<Block>> begin();

  std::vector<std::unique_ptr<BlockScan>> parts_;  // not finished yet
  std::size_t turn_ = 0;
  bool begun_ = false;
};

}  // namespace halite::storage
