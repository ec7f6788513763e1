// One request of a bulk load, and what came of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"

namespace halite::storage::hbase {

struct BulkLoadFile {
  Bytes family;
  std::string path;  // as the region server opens it
};

// Files for one region.
struct BulkLoadCall {
  std::string table;
  Bytes first_row;  // of all files
  Bytes last_row;
  std::vector<BulkLoadFile> files;  // at most 32 by default, the limit of HBase's servers
  std::string staging;              // from begin_bulk_load()
};

enum class BulkLoadOutcome : std::uint8_t {
  kLoaded,
  kRefused,         // the reason is in the server's log
  kUnknown,         // the answer was lost
  kSeveralRegions,  // nothing was sent: the rows are not in one region
};

struct BulkLoadAnswer {
  BulkLoadOutcome outcome = BulkLoadOutcome::kLoaded;
  std::string server;
};

}  // namespace halite::storage::hbase
