// Reads nodes of ZooKeeper, and nothing else: no session is kept, no watch is set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/task.h"
#include "storage/backends/hbase/rpc/options.h"
#include "storage/backends/hbase/rpc/transport.h"

namespace halite::storage::hbase {

// The node's value, or nothing where there is no such node. Asks one host after the other until one
// answers; each has connect_ms_max. Runs on `strand`, and is to be awaited there. Options outlive
// it.
[[nodiscard]] Task<std::optional<Bytes>> read_node(boost::asio::any_io_executor strand,
                                                   MakeTransport transport,
                                                   const ClientOptions& options, std::string path);

// The message in a value that HBase wrote: behind the writer's name and "PBUF".
[[nodiscard]] Result<BytesView> message_in_node(BytesView value);

}  // namespace halite::storage::hbase
