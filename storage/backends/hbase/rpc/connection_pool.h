// Connections to all servers of a cluster. Opens them on demand, and again after they break, with
// pauses.
//
//   Threads   Call from any thread.
//   Lifetime  Await close() before you destroy it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/threads/semaphore.h"
#include "storage/backends/hbase/rpc/connection.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

// The services of a server; one connection for each.
inline constexpr const char* kClientService = "ClientService";
inline constexpr const char* kAdminService = "AdminService";
inline constexpr const char* kMasterService = "MasterService";
inline constexpr const char* kRegistryService = "ClientMetaService";

class ConnectionPool {
 public:
  // Options and stats outlive it.
  ConnectionPool(const ClientOptions& options, std::vector<boost::asio::any_io_executor> executors,
                 MakeTransport transport, Stats& stats);

  // A server that cannot be reached is tried again after a pause that doubles each time. Until then
  // calls fail at once with the last error.
  RemoteTask<Reply> call(Endpoint server, const char* service, Call call);

  // Acquires a permit for one more batch at this server (server_batches_max). kOverloaded: none was
  // free in time. There are no other errors before close().
  Task<Semaphore::Permit> batch_pass(Endpoint server, std::uint32_t timeout_ms);

  // Records the last error, including those of finding servers, until a server answers again.
  void note_error(const Error& error);
  [[nodiscard]] std::optional<Error> last_error() const;

  // Running and later calls end with kUnavailable. Finishes once no socket is left.
  Task<void> close();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct ServerConnection {
    std::shared_ptr<Connection> connection;
    unsigned failures = 0;  // consecutive connections without an answer
    TimePoint not_before;   // the time of the next attempt
  };
  using Key = std::pair<Endpoint, std::string>;

  Outcome<std::shared_ptr<Connection>> connection_to(const Endpoint& server, const char* service);
  [[nodiscard]] Endpoint reached_at(const Endpoint& server) const;

  const ClientOptions& options_;
  const std::vector<boost::asio::any_io_executor> executors_;
  const MakeTransport transport_;
  Stats& stats_;

  mutable std::mutex mutex_;
  // mutex_ guards these.
  std::map<Key, ServerConnection> entries_;
  std::map<Endpoint, std::shared_ptr<Semaphore>> batches_;
  std::vector<std::shared_ptr<Connection>> ending_;  // replaced, but perhaps not yet ended
  std::size_t next_executor_ = 0;
  std::optional<Error> last_error_;
  bool closed_ = false;
};

}  // namespace halite::storage::hbase
