// Additions to the counters of rows: none is lost, and none is repeated where HBase could count it
// twice, as far as a client can tell (docs/operate/hbase.md#counters says where it cannot).
//
// An addition without `once` has a nonce, the same however often it is sent. The server knows it
// for half an hour; if it dies, the next one knows it from the log. A server that opens a region
// which another one has closed in order knows nothing. So an addition whose answer was lost goes to
// the server that may have applied it first. If that says that the region has moved, it is
// unknown whether it was applied, and it is not sent again.
//
// An addition with `once` writes a mark in the same atomic step, and is applied only if there is
// none: no server has to remember anything.
#pragma once

#include <string>
#include <vector>

#include "common/threads/task.h"
#include "storage/backends/hbase/client/client.h"
#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/messages/data.h"

namespace halite::storage::hbase {

// The caller has checked all arguments; no row occurs twice. kUnavailable: some may have been
// applied.
[[nodiscard]] Task<std::vector<RowAddResult>> add_to_rows(ClientContextPtr context,
                                                          std::string table,
                                                          std::vector<RowAdd> adds);

}  // namespace halite::storage::hbase
