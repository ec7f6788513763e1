// What a scan of a table reads, and how it returns rows. See wide_column.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/threads/task.h"
#include "storage/api/cells.h"

namespace halite::storage {

struct ScanHint;  // storage/api/scan_hint.h

struct KeyRange {
  Bytes begin;  // included; empty = from the first row
  Bytes end;    // excluded; empty = to the last row
};

// Selects rows by key. A store may evaluate the filter on a remote server.
class RowFilter {
 public:
  virtual ~RowFilter() = default;
  [[nodiscard]] virtual bool matches(BytesView row) const = 0;
};

struct ScanSpec {
  Family family = 0;
  std::vector<KeyRange> ranges;           // in order, not overlapping; empty = the whole table
  Bytes qualifier_begin;                  // included
  Bytes qualifier_end;                    // excluded; empty = no bound
  TimestampMs time_begin = 0;             // skips older cells
  std::shared_ptr<const RowFilter> rows;  // null = every row
  // What is known about the keys that `rows` accepts. Null: nothing.
  std::shared_ptr<const ScanHint> hint = nullptr;
  bool keys_only = false;  // returns one cell for each row, without its value
  // With keys_only: also rows in which a cell was deleted at time_begin or later, as far as the
  // store still knows. HBase knows until the next major compaction, the local stores never.
  bool deletions = false;
  bool reverse = false;  // rows in descending order; cells stay in qualifier order
};

struct ScanLimit {
  std::uint32_t rows_max = 1024;
  // Total cells; a larger row continues in the next batch.
  std::uint32_t cells_max = 65536;
};

// Reads the ranges once. Not thread-safe. Sees at least the rows that existed when it was made.
// Checks the scan's ReadContext every few thousand rows and returns its error from next().
class Scanner {
 public:
  virtual ~Scanner() = default;
  // The next rows with a selected cell; none at the end of the last range.
  virtual Task<std::vector<Row>> next(ScanLimit limit) = 0;
};

// A scan that returns rows as views, for readers that copy nothing.
class PackedScanner {
 public:
  virtual ~PackedScanner() = default;
  // Returns the rows and cells that Scanner::next() would return. May exceed the limit by some MiB,
  // or return fewer, where that is cheaper. The last row may continue in the next batch, with the
  // same key. Views are valid while the result lives. Empty at the end of the last range.
  virtual Task<PackedRows> next_packed(ScanLimit limit) = 0;
};

// A readable description of one scan request to a server.
struct ScanDescription {
  Bytes begin;                  // included; empty = from the first row
  Bytes end;                    // excluded; empty = to the last row
  std::string filter;           // of rows and cells, on the server; empty = none
  TimestampMs cells_since = 0;  // skips cells written before; 0 = none
};

}  // namespace halite::storage
