// Requests for one row that return a result: a counter with its sum, and conditional writes.
#pragma once

#include <cstdint>
#include <string>

#include "common/threads/task.h"
#include "storage/api/wide_column.h"
#include "storage/backends/hbase/client/client.h"
#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/messages/data.h"

namespace halite::storage::hbase {

// The caller has checked all arguments.
//
// If a region server dies after it counts and before it answers, `delta` may be counted twice. Ids
// then have a gap. The counter of a series' points is too high, and a TSMeta object that depends on
// it is not created.
[[nodiscard]] Task<IncrementResult> increment_cell(ClientContextPtr context, std::string table,
                                                   CellAddress cell, std::int64_t delta);
[[nodiscard]] Task<CasOutcome> check_and_put_cell(ClientContextPtr context, std::string table,
                                                  CheckAndPut change);
[[nodiscard]] Task<CasOutcome> check_and_mutate_row(ClientContextPtr context, std::string table,
                                                    CheckAndMutate change);

}  // namespace halite::storage::hbase
