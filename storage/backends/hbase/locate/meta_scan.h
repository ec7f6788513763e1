// Reads a few rows of hbase:meta in one request.
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
  bool reverse = false;  // from begin downwards to end
  std::uint32_t rows_max = 1;
};

struct MetaScanResult {
  std::vector<MetaRow> rows;
  bool more = false;  // more rows may follow
};

// Family "info".
[[nodiscard]] RemoteTask<MetaScanResult> scan_meta(ConnectionPool& servers, Endpoint meta,
                                                   MetaScanRequest question,
                                                   std::uint32_t timeout_ms);

// kFound: whether the table's own row says it is disabled; false if there is no row.
[[nodiscard]] RemoteTask<bool> is_disabled(ConnectionPool& servers, Endpoint meta,
                                           std::string table, std::uint32_t timeout_ms);

// The start of a reverse scan of hbase:meta for the region of `row`: its first row is not greater.
[[nodiscard]] Bytes meta_key(const std::string& table, BytesView row);

}  // namespace halite::storage::hbase
