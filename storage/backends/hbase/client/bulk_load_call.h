// Requests of bulk loads: a region takes over files that lie on its server's file system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/threads/task.h"
#include "storage/api/scan.h"
#include "storage/backends/hbase/client/client.h"
#include "storage/backends/hbase/client/client_context.h"

namespace halite::storage::hbase {

// See Client.
[[nodiscard]] Task<std::vector<KeyRange>> region_ranges(ClientContextPtr context,
                                                        std::string table);
[[nodiscard]] Task<std::string> begin_bulk_load(ClientContextPtr context, std::string table);
[[nodiscard]] Task<void> end_bulk_load(ClientContextPtr context, std::string table,
                                       std::string staging);
[[nodiscard]] Task<BulkLoadAnswer> bulk_load(ClientContextPtr context, BulkLoadCall call);

}  // namespace halite::storage::hbase
