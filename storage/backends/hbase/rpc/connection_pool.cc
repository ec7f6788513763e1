#include "storage/backends/hbase/rpc/connection_pool.h"

#include <algorithm>

#include "common/check.h"

namespace halite::storage::hbase {

namespace {

constexpr const char* kClosed = "the HBase client is closed";
constexpr unsigned kDoublingsMax = 16;

}  // namespace

ConnectionPool::ConnectionPool(const ClientOptions& options,
                               std::vector<boost::asio::any_io_executor> executors,
                               MakeTransport transport, Stats& stats)
    : options_(options),
      executors_(std::move(executors)),
      transport_(std::move(transport)),
      stats_(stats) {
  HALITE_CHECK(!executors_.empty(), "a client of HBase needs an executor");
}

Endpoint ConnectionPool::reached_at(const Endpoint& server) const {
  const auto found = std::ranges::find(options_.hosts, server.host, &HostOverride::host);
  if (found == options_.hosts.end()) return server;
  return {found->instead.host, found->instead.port == 0 ? server.port : found->instead.port};
}

Outcome<std::shared_ptr<Connection>> ConnectionPool::connection_to(const Endpoint& server,
                                                                   const char* service) {
  const std::lock_guard lock(mutex_);
  if (closed_) return give_up(Errc::kUnavailable, kClosed);
  ServerConnection& entry = entries_[Key(server, service)];
  if (entry.connection != nullptr) {
    const std::optional<Error> broken = entry.connection->broken();
    if (!broken) return entry.connection;
    const TimePoint now = std::chrono::steady_clock::now();
    if (entry.not_before == TimePoint()) {  // not yet recorded
      entry.failures =
          entry.connection->answered() ? 0 : std::min(entry.failures + 1, kDoublingsMax);
      const std::uint64_t pause =
          entry.failures == 0 ? 0
                              : static_cast<std::uint64_t>(options_.pause_ms_min) << entry.failures;
      entry.not_before =
          now + std::chrono::milliseconds(std::min<std::uint64_t>(pause, options_.pause_ms_max));
      last_error_ = *broken;
    }
    if (now < entry.not_before) return lost(broken->message, false);
    std::erase_if(ending_, [](const auto& old) { return old->ended().finished(); });
    ending_.push_back(std::move(entry.connection));
  }
  entry.not_before = TimePoint();
  entry.connection = Connection::open(
      Connection::Setup{.server = reached_at(server),
                        .host = server.host,
                        .service = service,
                        .executor = executors_[next_executor_++ % executors_.size()],
                        .transport = transport_},
      options_, stats_);
  return entry.connection;
}

RemoteTask<Reply> ConnectionPool::call(Endpoint server, const char* service, Call call) {
  auto connection = connection_to(server, service);
  if (!connection) co_return std::unexpected(std::move(connection).error());
  RemoteTask<Reply> calling = (*connection)->call(std::move(call));
  Outcome<Reply> reply = co_await std::move(calling);
  const std::lock_guard lock(mutex_);
  if (reply || reply.error().remedy != Remedy::kReconnect) {
    last_error_.reset();
  } else {
    last_error_ = reply.error().error;
  }
  co_return reply;
}

Task<Semaphore::Permit> ConnectionPool::batch_pass(Endpoint server, std::uint32_t timeout_ms) {
  std::shared_ptr<Semaphore> gate;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) co_return fail(Errc::kUnavailable, kClosed);
    std::shared_ptr<Semaphore>& known = batches_[server];
    if (known == nullptr) {
      known = std::make_shared<Semaphore>(
          SemaphoreLoad{.items = options_.server_batches_max, .bytes = 0});
    }
    gate = known;
  }
  const std::chrono::milliseconds patience(timeout_ms);
  Task<Semaphore::Permit> entering = gate->enter({.items = 1, .bytes = 0}, patience);
  co_return co_await std::move(entering);
}

void ConnectionPool::note_error(const Error& error) {
  const std::lock_guard lock(mutex_);
  last_error_ = error;
}

std::optional<Error> ConnectionPool::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

Task<void> ConnectionPool::close() {
  std::vector<std::shared_ptr<Connection>> connections;
  std::vector<std::shared_ptr<Semaphore>> gates;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    connections.swap(ending_);
    for (auto& [key, entry] : entries_) {
      if (entry.connection != nullptr) connections.push_back(std::move(entry.connection));
    }
    entries_.clear();
    for (const auto& [server, gate] : batches_) gates.push_back(gate);
  }
  for (const std::shared_ptr<Semaphore>& gate : gates) gate->close(kClosed);
  for (const auto& connection : connections) {
    connection->close({Errc::kUnavailable, kClosed, {}});
  }
  std::vector<Completion> ends;
  for (const auto& connection : connections) ends.push_back(connection->ended());
  connections.clear();
  for (const Completion& end : ends) {
    const Result<void> ended = co_await end.wait();
    static_cast<void>(ended);  // never fails
  }
  co_return Result<void>();
}

}  // namespace halite::storage::hbase
