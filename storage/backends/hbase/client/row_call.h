// Requests for one row whose answer matters: counters, and writes under a condition.
#pragma once

#include <cstdint>
#include <string>

#include "common/task.h"
#include "storage/api/wide_column.h"
#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/messages/data.h"

namespace halite::storage::hbase {

// Every argument has been checked.
//
// Where a region server died between counting and answering `delta` may be counted twice: a gap
// among ids; a series' counter of points is too high then, and a TSMeta object that depends on it
// is not made.
[[nodiscard]] Task<IncrementResult> increment_cell(ClientContextPtr context, std::string table,
                                                   CellAddress cell, std::int64_t delta);
[[nodiscard]] Task<CasOutcome> check_and_put_cell(ClientContextPtr context, std::string table,
                                                  CheckAndPut change);
[[nodiscard]] Task<CasOutcome> check_and_mutate_row(ClientContextPtr context, std::string table,
                                                    CheckAndMutate change);

}  // namespace halite::storage::hbase
