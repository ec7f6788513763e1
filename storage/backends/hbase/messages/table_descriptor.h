// Tables, families and regions as HBase's master and region servers describe them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/clock.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

// Values are texts as HBase's shell takes them: TTL "86400", COMPRESSION "GZ", BLOOMFILTER "ROW",
// DATA_BLOCK_ENCODING "DIFF", VERSIONS "1", BLOCKCACHE "true". What is absent has HBase's default;
// an unknown name is kept by HBase without a word.
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

// One region, where it is, and what its server says of it.
struct RegionStatus {
  Bytes name;                       // whole, as hbase:meta has it
  Bytes begin;                      // included; empty = from the first row
  Bytes end;                        // excluded; empty = to the last row
  Endpoint server;                  // port 0: none just now, and all below is 0
  std::uint64_t read_requests = 0;  // since the region was opened
  std::uint64_t write_requests = 0;
  std::uint32_t files = 0;
  std::uint32_t files_mib = 0;      // on disk
  std::uint32_t memory_mib = 0;     // not yet in files
  TimestampMs major_compacted = 0;  // the oldest file's; 0 = never
};

}  // namespace halite::storage::hbase
