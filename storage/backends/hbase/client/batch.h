// Many rows' reads or writes: grouped by server, sent as few requests, failed ones sent again.
#pragma once

#include <string>
#include <vector>

#include "common/task.h"
#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/messages/data.h"

namespace halite::storage::hbase {

// Every argument has been checked.
[[nodiscard]] Task<void> write_rows(ClientContextPtr context, std::string table,
                                    std::vector<RowMutation> rows);
[[nodiscard]] Task<void> append_cells(ClientContextPtr context, std::string table,
                                      std::vector<CellAppend> cells);
[[nodiscard]] Task<std::vector<Row>> read_rows(ClientContextPtr context, std::string table,
                                               std::vector<RowGet> reads);

}  // namespace halite::storage::hbase
