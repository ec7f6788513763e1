// Scans a table's rows in order, over all its regions.
#pragma once

#include <cstdint>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/threads/task.h"
#include "storage/api/cells.h"
#include "storage/backends/hbase/messages/data.h"
#include "storage/backends/hbase/messages/filter.h"

namespace halite::storage::hbase {

enum class ReadKind : std::uint8_t {
  kByServer,  // starts with single reads, then streams
  kStream,    // for long ranges
  kSingle,    // for a few rows
};

struct ScanRequest {
  Bytes begin;                         // included; empty = from the first row
  Bytes end;                           // excluded; empty = to the last row
  bool reverse = false;                // rows from last to first; cells in a row keep their order
  std::vector<FamilyColumns> columns;  // empty = every family
  Filter filter;
  TimeRange times;  // of cells; 0 to 0 = any
  std::uint32_t versions_max = 1;
  bool raw = false;          // also deleted cells and delete markers
  bool cache_blocks = true;  // false for long scans, so that they do not evict other blocks
  ReadKind read = ReadKind::kByServer;
};

// Rows in the order of arrival, and the family of the cells from an index on.
struct ScanBatch {
  struct FamilyStart {
    std::size_t cell = 0;
    BytesView family;
  };
  PackedRows rows;
  std::vector<FamilyStart> families;  // by index; empty only if there are no cells
};

// Reads the range once. One next() at a time; different scanners may run in parallel.
//
//   Read-ahead  Fetches the next batch while the caller uses the current one; never more than one.
//   Recovery    Regions that move, split or lose their server cause no error and no lost row: the
//               scan continues after the last cell that it returned.
//   Sees        All writes that were acknowledged before the first next().
//   Lifetime    Destroy it at any time; the server's scanner is then closed.
class Scanner {
 public:
  virtual ~Scanner() = default;
  // The next rows, a few MiB at most; none at the end of the range. A long row is split: its rest
  // begins the next batch, with its key. After an error the scan is over.
  virtual Task<ScanBatch> next_packed() = 0;
  // As next_packed(), as rows that own their bytes.
  Task<std::vector<Row>> next();
};

}  // namespace halite::storage::hbase
