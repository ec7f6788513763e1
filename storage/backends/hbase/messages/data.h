// Rows and cells as HBase has them, and what one may ask of them.
//
//   Names  rows have 1 to 32 767 bytes; families 1 to 127, printable, no ':'.
//   Times  ms since 1970. A cell with time 0 is stamped by the region server: a retry then may
//          leave a second version, so give times to whatever must be there once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/bytes.h"
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
  kVersion,   // the version of exactly that time; time 0: the newest
  kVersions,  // all versions up to and including that time; time 0: up to now
  kFamily,    // the same for the whole family, whatever the qualifier says
};

struct CellDelete {
  DeleteKind kind = DeleteKind::kVersions;
  Bytes family;
  Bytes qualifier;
  TimestampMs time = 0;
};

// One row's changes, applied all or none. A delete hides what has its time or an older one, also
// puts of this same mutation.
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
  // Else the newest version of each cell. Also what is hidden by deletes and the deletes themselves
  // (with empty values); then `columns` names families alone.
  bool all_versions = false;
};

struct CellAddress {
  Bytes row;
  Bytes family;
  Bytes qualifier;
};

// More bytes for the end of a cell's value; an absent one counts as empty.
struct CellAppend {
  CellAddress cell;
  Bytes value;
  TimestampMs time = 0;  // of a cell that was absent; another gets the server's or keeps its own
};

// Writes `put` if the cell holds `expected` now; nothing expected means there is no such cell
// (HBase holds an empty value for the same).
struct CheckAndPut {
  CellAddress cell;
  std::optional<Bytes> expected;
  Bytes value;
  TimestampMs time = 0;  // of what is written
};

struct IncrementResult {
  std::int64_t sum = 0;
  TimestampMs time = 0;  // that the region server gave it
};

// Changes the row if the cell holds `expected` now.
struct CheckAndMutate {
  Bytes family;
  Bytes qualifier;
  Bytes expected;  // not empty: HBase holds that for a cell that is not there
  RowMutation mutation;
};

}  // namespace halite::storage::hbase
