// One attempt at a request for one row, with an answer that has cells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/messages/data.h"
#include "storage/backends/hbase/proto/client.pb.h"
#include "storage/backends/hbase/rpc/fault.h"

namespace halite::storage::hbase {

struct RowAnswer {
  std::vector<Cell> cells;
  bool processed = false;
};

// Sends it to the server that has the row now. Sets the region: of a MultiRequest that of its only
// region action. Errors update the region cache.
[[nodiscard]] RemoteTask<RowAnswer> attempt(ClientContextPtr context, std::string table, Bytes row,
                                            pb::MutateRequest request, Bytes cellblock,
                                            std::uint32_t timeout_ms);
[[nodiscard]] RemoteTask<RowAnswer> attempt(ClientContextPtr context, std::string table, Bytes row,
                                            pb::MultiRequest request, Bytes cellblock,
                                            std::uint32_t timeout_ms);

// Without `expected`, the cell must not exist.
void set_condition(pb::Condition& condition, const CellAddress& cell,
                   const std::optional<Bytes>& expected);

}  // namespace halite::storage::hbase
