// Cells as HBase's KeyValueCodec writes them, one after the other: docs/formats/hbase.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bytes.h"
#include "storage/api/cells.h"

namespace halite::storage::hbase {

enum class CellKind : std::uint8_t {
  kPut = 4,
  kDeleteVersion = 8,
  kDeleteFamilyVersion = 10,
  kDeleteVersions = 12,
  kDeleteFamily = 14,
};

// A cell's time that stands for "when the region server has it".
inline constexpr std::uint64_t kLatestTime = 0x7FFFFFFFFFFFFFFF;

// A view into a cellblock.
struct CellView {
  BytesView row;
  BytesView family = {};
  BytesView qualifier = {};
  std::uint64_t time = kLatestTime;
  CellKind kind = CellKind::kPut;
  BytesView value = {};
};

// Bytes that a cell takes in a cellblock.
[[nodiscard]] std::size_t cell_bytes(const CellView& cell);

// A row of 1 to 32 767 bytes, a family of at most 127: the caller has seen to it.
void append_cell(Bytes& block, const CellView& cell);

// Reads cells one by one. kCorruption names the place where the block contradicts itself; do not go
// on then.
class CellReader {
 public:
  explicit CellReader(BytesView block) : block_(block) {}

  [[nodiscard]] bool at_end() const { return at_ == block_.size(); }
  [[nodiscard]] Result<CellView> next();
  // Adds the cells, up to `most`, that follow the one read last and have its row and family. Ends
  // before any other, also a damaged one: next() knows more.
  void next_of_row(const CellView& last, std::size_t most, std::vector<CellRef>& cells);

 private:
  BytesView block_;
  std::size_t at_ = 0;
};

}  // namespace halite::storage::hbase
