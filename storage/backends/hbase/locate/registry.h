// Finds hbase:meta and the master: asks ZooKeeper, or masters and region servers that act as
// registry.
//
//   Threads  Call from any thread.
//   Cache    None: the caller keeps the answer until it proves wrong.
//   Errors   Remedy::kWait: no server answers, or HBase itself does not know yet.
#pragma once

#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "storage/backends/hbase/locate/task_tracker.h"
#include "storage/backends/hbase/rpc/connection_pool.h"
#include "storage/backends/hbase/rpc/fault.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

class ConnectionRegistry {
 public:
  virtual ~ConnectionRegistry() = default;
  virtual RemoteTask<Endpoint> meta_server() = 0;
  virtual RemoteTask<Endpoint> master() = 0;
};

// All references outlive the registry and its calls.
[[nodiscard]] std::unique_ptr<ConnectionRegistry> zookeeper_registry(
    const ClientOptions& options, const boost::asio::any_io_executor& executor,
    const TaskTracker& activity);
[[nodiscard]] std::unique_ptr<ConnectionRegistry> rpc_registry(const ClientOptions& options,
                                                               ConnectionPool& servers);

}  // namespace halite::storage::hbase
