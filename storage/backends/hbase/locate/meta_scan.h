// Reads of hbase:meta: a few rows each, in one request.
#pragma once

#include <vector>

#include "storage/backends/hbase/messages/region.h"
#include "storage/backends/hbase/rpc/connection_pool.h"
#include "storage/backends/hbase/rpc/fault.h"

namespace halite::storage::hbase {

struct MetaScanRequest {
  Bytes begin;
  bool include_begin = true;
  Bytes end;
  bool include_end = false;
  bool reverse = false;  // from begin down to end
  std::uint32_t rows_max = 1;
};

struct MetaScanResult {
  std::vector<MetaRow> rows;
  bool more = false;  // behind the last row, as far as is known
};

// Family "info".
[[nodiscard]] RemoteTask<MetaScanResult> scan_meta(ConnectionPool& servers, Endpoint meta,
                                                   MetaScanRequest question,
                                                   std::uint32_t timeout_ms);

// kFound: whether the table's own row says it is disabled. No row: false.
[[nodiscard]] RemoteTask<bool> is_disabled(ConnectionPool& servers, Endpoint meta,
                                           std::string table, std::uint32_t timeout_ms);

// Where the question begins that finds the region of `row`: asked in reverse, the first row that
// is not greater.
[[nodiscard]] Bytes meta_key(const std::string& table, BytesView row);

}  // namespace halite::storage::hbase
