// Reads and writes many rows: grouped by server, in few requests, with retries of failed ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/threads/task.h"
#include "storage/api/wide_column.h"
#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/messages/data.h"
#include "storage/backends/hbase/rpc/fault.h"

namespace halite::storage::hbase {

// The caller has checked all arguments.
[[nodiscard]] Task<void> write_rows(ClientContextPtr context, std::string table,
                                    std::vector<RowMutation> rows, WriteEnd end);
[[nodiscard]] Task<void> append_cells(ClientContextPtr context, std::string table,
                                      std::vector<CellAppend> cells);

// The counters of a row after an addition. Empty: an earlier attempt was applied, and its answer is
// lost. nullopt: a cell is not a counter, and nothing was added.
using CountersAfter = std::optional<std::vector<Cell>>;

// Additions without `once`. No row may occur twice. Each is applied all or none, and once under its
// nonce, however often it is sent. The server knows the nonce for half an hour, and the next one
// from the log if it dies. It is not handed over if the region moves orderly, so an addition counts
// twice if its answer is lost just before a move.
[[nodiscard]] Task<std::vector<CountersAfter>> add_to_counters(ClientContextPtr context,
                                                               std::string table,
                                                               std::vector<RowAdd> adds);

// Exactly this class, no subclass: for an increment, HBase throws it if the cell is not a counter.
// Its message differs between versions.
[[nodiscard]] inline bool is_no_counter(const Fault& fault) {
  return fault.class_name == "DoNotRetryIOException";
}

[[nodiscard]] Task<std::vector<Row>> read_rows(ClientContextPtr context, std::string table,
                                               std::vector<RowGet> reads);

}  // namespace halite::storage::hbase
