// Connections to all servers of a cluster: made when needed, again after they broke, not too often.
//
//   Threads  any call from any thread.
//   Life     close() and its await before it is destroyed.
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

#include "common/semaphore.h"
#include "storage/backends/hbase/rpc/connection.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage::hbase {

// The services that a server offers, one a connection.
inline constexpr const char* kClientService = "ClientService";
inline constexpr const char* kAdminService = "AdminService";
inline constexpr const char* kMasterService = "MasterService";
inline constexpr const char* kRegistryService = "ClientMetaService";

class ConnectionPool {
 public:
  // Options and stats outlive it.
  ConnectionPool(const ClientOptions& options, std::vector<boost::asio::any_io_executor> executors,
                 MakeTransport transport, Stats& stats);

  // A server that could not be reached is not tried again before a pause that doubles each time;
  // until then calls end at once with the reason of last time.
  RemoteTask<Reply> call(Endpoint server, const char* service, Call call);

  // Room for one more batch at this server: server_batches_max. kOverloaded: there was none for so
  // long. No other error but after close().
  Task<Semaphore::Permit> batch_pass(Endpoint server, std::uint32_t timeout_ms);

  // The last trouble, also of finding the servers, until some server answers again.
  void note_error(const Error& error);
  [[nodiscard]] std::optional<Error> last_error() const;

  // Calls under way and later ones end with kUnavailable. Finished once no socket is left.
  Task<void> close();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct ServerConnection {
    std::shared_ptr<Connection> connection;
    unsigned failures = 0;  // connections in a row that never answered
    TimePoint not_before;   // of the next attempt
  };
  using Key = std::pair<Endpoint, std::string>;

  Outcome<std::shared_ptr<Connection>> connection_to(const Endpoint& server, const char* service);
  [[nodiscard]] Endpoint reached_at(const Endpoint& server) const;

  const ClientOptions& options_;
  const std::vector<boost::asio::any_io_executor> executors_;
  const MakeTransport transport_;
  Stats& stats_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<Key, ServerConnection> entries_;
  std::map<Endpoint, std::shared_ptr<Semaphore>> batches_;
  std::vector<std::shared_ptr<Connection>> ending_;  // replaced, perhaps not yet ended
  std::size_t next_executor_ = 0;
  std::optional<Error> last_error_;
  bool closed_ = false;
};

}  // namespace halite::storage::hbase
