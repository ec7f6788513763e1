// Reads nodes of ZooKeeper. Keeps no session and sets no watch.
#pragma once

#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "common/bytes/bytes.h"
#include "common/threads/task.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

// The node's value; nothing if the node does not exist. Tries one host after another until one
// answers; each has connect_ms_max. Await it on `strand`, where it runs. Options outlive it.
[[nodiscard]] Task<std::optional<Bytes>> read_node(boost::asio::any_io_executor strand,
                                                   const ClientOptions& options, std::string path);

// The message in a value written by HBase: it follows the writer's name and "PBUF".
[[nodiscard]] Result<BytesView> message_in_node(BytesView value);

}  // namespace halite::storage::hbase
