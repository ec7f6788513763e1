// Reads and writes many rows: grouped by server, in few requests, with retries of failed ones.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/threads/task.h"
#include "storage/api/wide_column.h"
#include "storage/backends/hbase/client/batch_request.h"
#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/messages/data.h"
#include "storage/backends/hbase/rpc/fault.h"

namespace halite::storage::hbase {

// Sends the job's actions until each has an outcome. Fails if time or HBase ends that before.
[[nodiscard]] Task<void> run_batch(ClientContextPtr context, std::string table,
                                   std::shared_ptr<BatchJob> job, WriteEnd end = kNoWriteEnd);

// The caller has checked all arguments.
[[nodiscard]] Task<void> write_rows(ClientContextPtr context, std::string table,
                                    std::vector<RowMutation> rows, WriteEnd end);
[[nodiscard]] Task<void> append_cells(ClientContextPtr context, std::string table,
                                      std::vector<CellAppend> cells);

// Exactly this class, no subclass: for an increment, HBase throws it if the cell is not a counter.
// Its message differs between versions.
[[nodiscard]] inline bool is_no_counter(const Fault& fault) {
  return fault.class_name == "DoNotRetryIOException";
}

[[nodiscard]] Task<std::vector<Row>> read_rows(ClientContextPtr context, std::string table,
                                               std::vector<RowGet> reads);

}  // namespace halite::storage::hbase
