// Scans for who only looks at cells: rows as views, from any table.
#pragma once

#include <memory>

#include "storage/api/packed_rows.h"
#include "storage/api/wide_column.h"

namespace halite::storage {

class PackedScanner {
 public:
  virtual ~PackedScanner() = default;
  // The rows and cells that Scanner::next() would give; where it is cheaper, more or fewer than the
  // limit says, some MiB at most. The last row may go on in the next batch, under its key. Views
  // are good as long as what is returned. None when all is finished.
  virtual Task<PackedRows> next_packed(ScanLimit limit) = 0;
};

// A table that has its rows as views from the start is this, too.
class PackedTable {
 public:
  virtual ~PackedTable() = default;
  [[nodiscard]] virtual std::unique_ptr<PackedScanner> scan_packed(ScanSpec spec) = 0;
};

// Of any table, which outlives the scan.
[[nodiscard]] std::unique_ptr<PackedScanner> scan_packed(Table& table, ScanSpec spec);

}  // namespace halite::storage
