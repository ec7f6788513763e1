// Encodes and decodes cells as HBase's KeyValueCodec does: docs/formats/hbase.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bytes/bytes.h"
#include "storage/api/cells.h"

namespace halite::storage::hbase {

enum class CellKind : std::uint8_t {
  kPut = 4,
  kDeleteVersion = 8,
  kDeleteFamilyVersion = 10,
  kDeleteVersions = 12,
  kDeleteFamily = 14,
};

// A cell time that stands for "when the region server receives the cell".
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

// The size of a cell in a cellblock.
[[nodiscard]] std::size_t cell_bytes(const CellView& cell);

// The caller has checked that the row has 1 to 32 767 bytes and the family at most 127.
void append_cell(Bytes& block, const CellView& cell);

// Reads cells one by one. kCorruption names the offset of an inconsistency; do not continue then.
class CellReader {
 public:
  explicit CellReader(BytesView block) : block_(block) {}

  [[nodiscard]] bool at_end() const { return at_ == block_.size(); }
  [[nodiscard]] Result<CellView> next();
  // Adds up to `most` cells that follow the last one and have its row and family. Stops before any
  // other cell, and before a damaged one: call next() for it.
  void next_of_row(const CellView& last, std::size_t most, std::vector<CellRef>& cells);

 private:
  BytesView block_;
  std::size_t at_ = 0;
};

}  // namespace halite::storage::hbase
