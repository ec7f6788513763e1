// Rows and cells of a table, and writes to them. See wide_column.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"

namespace halite::storage {

inline constexpr std::size_t kRowKeyBytesMax = 32767;

using Family = std::uint8_t;  // position in TableSpec::families

struct Column {
  Family family = 0;
  Bytes qualifier;  // may be empty
};

struct Cell {
  Bytes qualifier;
  Bytes value;
  TimestampMs time = 0;
};

struct Row {
  Bytes key;
  std::vector<Cell> cells;  // of one family, in qualifier order, no qualifier twice
};

struct CellWrite {
  Column column;
  Bytes value;
  TimestampMs time = 0;  // 0 = the store's time; below 0 = kInvalidArgument
};

// The changes of one row, applied atomically.
struct RowWrite {
  Bytes row;
  std::vector<CellWrite> puts;
  std::vector<Column> deletes;  // applied before the puts
};

// Bytes to append to a cell's value.
struct CellAppend {
  Bytes row;
  Column column;
  Bytes value;
};

// Additions to big-endian 64-bit counters of one row; an absent counter is 0.
struct CounterAdd {
  struct Delta {
    Column column;
    std::int64_t delta = 0;
  };

  Bytes row;
  std::vector<Delta> deltas;  // no column twice
  // If set, a cell that must be absent. It is written with the additions, so that the same
  // additions sent again change nothing while the cell exists.
  std::optional<Column> once = {};
};

enum class AddOutcome : std::uint8_t {
  kAdded,
  kRepeated,   // the cell `once` exists; nothing was added
  kOverflow,   // a sum does not fit in 64 bits; nothing was added
  kNoCounter,  // a cell does not have 8 bytes; nothing was added
};

struct RowRead {
  Bytes row;
  Family family = 0;
  std::vector<Bytes> qualifiers;  // empty = every cell of the family
};

// A view of a cell.
struct CellRef {
  BytesView qualifier;
  BytesView value;
  TimestampMs time = 0;
};

// Valid while the cells are not moved or destroyed.
[[nodiscard]] inline std::vector<CellRef> as_refs(std::span<const Cell> cells) {
  std::vector<CellRef> refs;
  refs.reserve(cells.size());
  for (const Cell& cell : cells) refs.push_back({cell.qualifier, cell.value, cell.time});
  return refs;
}

struct RowRef {
  BytesView key;
  std::size_t begin = 0;  // range of its cells in PackedRows::cells
  std::size_t end = 0;
};

// Rows as views into shared bytes, so that cells need no allocations.
struct PackedRows {
  std::vector<RowRef> rows;
  std::vector<CellRef> cells;         // row by row, in qualifier order
  std::shared_ptr<const void> bytes;  // the memory behind all views

  [[nodiscard]] bool empty() const { return rows.empty(); }
  [[nodiscard]] std::span<const CellRef> cells_of(const RowRef& row) const {
    return std::span(cells).subspan(row.begin, row.end - row.begin);
  }
};

}  // namespace halite::storage
