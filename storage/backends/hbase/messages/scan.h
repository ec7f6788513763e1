// Scanning a table's rows in order, over all its regions.
#pragma once

#include <cstdint>
#include <vector>

#include "common/bytes.h"
#include "common/clock.h"
#include "common/task.h"
#include "storage/api/cells.h"
#include "storage/backends/hbase/messages/data.h"
#include "storage/backends/hbase/messages/filter.h"

namespace halite::storage::hbase {

enum class ReadKind : std::uint8_t {
  kByServer,  // begins with single reads, goes on as a stream
  kStream,    // for long ranges
  kSingle,    // for some rows
};

struct ScanRequest {
  Bytes begin;                         // included; empty = from the first row
  Bytes end;                           // excluded; empty = to the last row
  bool reverse = false;                // rows from last to first; cells in a row keep their order
  std::vector<FamilyColumns> columns;  // empty = every family
  Filter filter;
  TimeRange times;  // of cells; 0 to 0 = any
  std::uint32_t versions_max = 1;
  bool cache_blocks = true;  // false for long scans, so that they do not push out what others need
  ReadKind read = ReadKind::kByServer;
};

// Rows as they came, and the family that cells belong to from an index on.
struct ScanBatch {
  struct FamilyStart {
    std::size_t cell = 0;
    BytesView family;
  };
  PackedRows rows;
  std::vector<FamilyStart> families;  // by index; none only where there is no cell
};

// Walks the range once. One next() at a time; different scanners side by side.
//
//   Ahead   while a batch is used, the next one is fetched; never more than that one.
//   Regions that move, split or lose their server in between are no error and cost no row: the scan
//           goes on behind the last cell that was handed out.
//   Sees    every write that was answered before the first next().
//   Ends    destroyed at any time; the server's part is then given back.
class Scanner {
 public:
  virtual ~Scanner() = default;
  // The next rows, some MiB at most; none when the range is finished. A long row is cut: its rest
  // begins the next batch, under the same key. After an error the scan is over.
  virtual Task<ScanBatch> next_packed() = 0;
  // The same as rows that keep their own bytes.
  Task<std::vector<Row>> next();
};

}  // namespace halite::storage::hbase
