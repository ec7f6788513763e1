// Rows on their way to somebody who only looks at their cells: views into bytes that they keep, so
// that a cell costs no memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/bytes.h"
#include "common/clock.h"
#include "storage/api/wide_column.h"

namespace halite::storage {

// A cell that somebody else keeps.
struct CellRef {
  BytesView qualifier;
  BytesView value;
  TimestampMs time = 0;
};

// The same cells, as long as they stay where they are.
[[nodiscard]] inline std::vector<CellRef> as_refs(std::span<const Cell> cells) {
  std::vector<CellRef> refs;
  refs.reserve(cells.size());
  for (const Cell& cell : cells) refs.push_back({cell.qualifier, cell.value, cell.time});
  return refs;
}

struct RowRef {
  BytesView key;
  std::size_t begin = 0;  // its cells, in PackedRows::cells
  std::size_t end = 0;
};

struct PackedRows {
  std::vector<RowRef> rows;
  std::vector<CellRef> cells;         // of each row together, in qualifier order
  std::shared_ptr<const void> bytes;  // what all views are into

  [[nodiscard]] bool empty() const { return rows.empty(); }
  [[nodiscard]] std::span<const CellRef> cells_of(const RowRef& row) const {
    return std::span(cells).subspan(row.begin, row.end - row.begin);
  }
};

}  // namespace halite::storage
