// Reads and writes many rows: grouped by server, in few requests, with retries of failed ones.
#pragma once

#include <string>
#include <vector>

#include "common/threads/task.h"
#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/messages/data.h"

namespace halite::storage::hbase {

// The caller has checked all arguments.
[[nodiscard]] Task<void> write_rows(ClientContextPtr context, std::string table,
                                    std::vector<RowMutation> rows);
[[nodiscard]] Task<void> append_cells(ClientContextPtr context, std::string table,
                                      std::vector<CellAppend> cells);
[[nodiscard]] Task<std::vector<Row>> read_rows(ClientContextPtr context, std::string table,
                                               std::vector<RowGet> reads);

}  // namespace halite::storage::hbase
