// What a scan of a table reads, and how its rows come. See wide_column.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/clock.h"
#include "common/task.h"
#include "storage/api/cells.h"

namespace halite::storage {

struct ScanHint;  // storage/api/scan_hint.h

struct KeyRange {
  Bytes begin;  // included; empty = from the first row
  Bytes end;    // excluded; empty = to the last row
};

// Decides by its key whether a row is wanted. A store may push it down where the rows are.
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
  TimestampMs time_begin = 0;             // cells older than this are not wanted
  std::shared_ptr<const RowFilter> rows;  // null = every row
  // What the keys look like that `rows` wants. Null: nothing is known.
  std::shared_ptr<const ScanHint> hint = nullptr;
  bool keys_only = false;  // one cell a row, without its value
  bool reverse = false;    // rows from last to first; cells stay in qualifier order
};

struct ScanLimit {
  std::uint32_t rows_max = 1024;
  std::uint32_t cells_max = 65536;  // in all rows together; the row that meets it is cut, its rest
                                    // comes first in the next batch, under the same key
};

// Walks the ranges once. Not thread-safe. Sees at least what was there when it was made. Checks the
// scan's ReadContext every few thousand rows; its error is then the error of next().
class Scanner {
 public:
  virtual ~Scanner() = default;
  // The next rows that have a wanted cell; none when all ranges are finished.
  virtual Task<std::vector<Row>> next(ScanLimit limit) = 0;
};

// A scan whose rows come as views: for readers that only look at cells.
class PackedScanner {
 public:
  virtual ~PackedScanner() = default;
  // The rows and cells that Scanner::next() would give. Where that is cheaper, it gives more or
  // fewer than the limit, some MiB at most. The last row may continue in the next batch, under its
  // key. Views are valid as long as the result lives. Empty when all ranges are finished.
  virtual Task<PackedRows> next_packed(ScanLimit limit) = 0;
};

// A scan as a store asks its servers for it, for people to read.
struct ScanDescription {
  Bytes begin;                  // included; empty = from the first row
  Bytes end;                    // excluded; empty = to the last row
  std::string filter;           // of rows and cells, where they are; empty = none
  TimestampMs cells_since = 0;  // cells written before are not wanted; 0 = any
};

}  // namespace halite::storage
