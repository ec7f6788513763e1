// Tables, families and regions as HBase's master and region servers describe them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

// Values are texts as in HBase's shell: TTL "86400", COMPRESSION "GZ", BLOOMFILTER "ROW",
// DATA_BLOCK_ENCODING "DIFF", VERSIONS "1", BLOCKCACHE "true". Absent ones have HBase's defaults;
// HBase stores unknown names without an error.
using Attributes = std::map<std::string, std::string>;

struct FamilyDescriptor {
  Bytes name;
  Attributes attributes;
  Attributes configuration;
};

struct TableDescriptor {
  std::string name;       // "table" or "namespace:table"
  Attributes attributes;  // MAX_FILESIZE, SPLIT_ENABLED "false", NORMALIZATION_ENABLED "false", ...
  std::vector<FamilyDescriptor> families;
  Attributes configuration;
};

enum class TableState : std::uint8_t { kEnabled, kDisabled, kDisabling, kEnabling };

struct ServerStatus {
  Endpoint server;
  std::uint32_t heap_mib_max = 0;
};

// One region, its location, and its server's report on it.
struct RegionStatus {
  Bytes name;                       // full, as in hbase:meta
  Bytes begin;                      // included; empty = from the first row
  Bytes end;                        // excluded; empty = to the last row
  Endpoint server;                  // port 0: no server at present, and all below is 0
  std::uint64_t read_requests = 0;  // since the region was opened
  std::uint64_t write_requests = 0;
  std::uint32_t files = 0;
  std::uint32_t files_mib = 0;      // on disk
  std::uint32_t memory_mib = 0;     // not yet in files
  TimestampMs major_compacted = 0;  // of the oldest file; 0 = never
};

}  // namespace halite::storage::hbase
