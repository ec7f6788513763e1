// A scan as its store would ask it of whoever has the rows: for people to read.
#pragma once

#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/clock.h"

namespace halite::storage {

struct ScanSpec;

struct ScanText {
  Bytes begin;                  // included; empty = from the first row
  Bytes end;                    // excluded; empty = to the last row
  std::string filter;           // of rows and cells, where they are; empty = none
  TimestampMs cells_since = 0;  // what was written before is not wanted; 0 = any
};

// A table whose rows are elsewhere is this, too.
class TellingTable {
 public:
  virtual ~TellingTable() = default;
  // The requests that a scan would come to, in order.
  [[nodiscard]] virtual std::vector<ScanText> scan_texts(const ScanSpec& spec) const = 0;
};

}  // namespace halite::storage
