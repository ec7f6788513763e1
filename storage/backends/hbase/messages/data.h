// Rows and cells of HBase, and the operations on them.
//
//   Names  Rows have 1 to 32 767 bytes; families 1 to 127, printable, without ':'.
//   Times  ms since 1970. The region server stamps a cell with time 0. A retry may then leave a
//          second version, so set times where a cell must exist once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"

namespace halite::storage::hbase {

struct Cell {
  Bytes family;
  Bytes qualifier;
  Bytes value;
  TimestampMs time = 0;
};

struct Row {
  Bytes key;
  std::vector<Cell> cells;  // by family, qualifier, then newest first
};

enum class DeleteKind : std::uint8_t {
  kVersion,   // the version with exactly that time; time 0: the newest
  kVersions,  // all versions up to and including that time; time 0: up to now
  kFamily,    // as kVersions, for the whole family; ignores the qualifier
};

struct CellDelete {
  DeleteKind kind = DeleteKind::kVersions;
  Bytes family;
  Bytes qualifier;
  TimestampMs time = 0;
};

// One row's changes, applied all or none. A delete hides all cells with its time or an older one,
// including puts of this mutation.
struct RowMutation {
  Bytes row;
  std::vector<Cell> puts;
  std::vector<CellDelete> deletes;
};

struct FamilyColumns {
  Bytes family;
  std::vector<Bytes> qualifiers;  // empty = the whole family
};

struct RowGet {
  Bytes row;
  std::vector<FamilyColumns> columns;  // empty = every family
  // If false, only the newest version of each cell. If true, also deleted cells and the deletes
  // themselves (with empty values); then `columns` contains families only.
  bool all_versions = false;
};

struct CellAddress {
  Bytes row;
  Bytes family;
  Bytes qualifier;
};

// Bytes to append to a cell's value; an absent cell counts as empty.
struct CellAppend {
  CellAddress cell;
  Bytes value;
  TimestampMs time = 0;  // for an absent cell; another gets the server's or keeps its own
};

// Writes `put` if the cell's value is `expected`; nothing means that the cell does not exist (to
// HBase, an empty value is the same).
struct CheckAndPut {
  CellAddress cell;
  std::optional<Bytes> expected;
  Bytes value;
  TimestampMs time = 0;  // of the new cell
};

struct IncrementResult {
  std::int64_t sum = 0;
  TimestampMs time = 0;  // assigned by the region server
};

// Additions to counters of one row, applied all or none.
struct RowAdd {
  struct Delta {
    Bytes family;
    Bytes qualifier;
    std::int64_t delta = 0;
  };

  Bytes row;
  std::vector<Delta> deltas;        // no column twice
  std::optional<CellAddress> once;  // of this row; added only if it is absent, then written
};

// Changes the row if the cell's value is `expected`.
struct CheckAndMutate {
  Bytes family;
  Bytes qualifier;
  Bytes expected;  // not empty: HBase treats an empty value as no cell
  RowMutation mutation;
};

}  // namespace halite::storage::hbase
