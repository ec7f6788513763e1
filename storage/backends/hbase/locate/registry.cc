#include "storage/backends/hbase/locate/registry.h"

#include <atomic>
#include <cstddef>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <fmt/format.h>

#include "storage/backends/hbase/proto/rpc.pb.h"
#include "storage/backends/hbase/rpc/zookeeper.h"

namespace halite::storage::hbase {

namespace {

constexpr std::uint32_t kStateOpen = 3;  // of RegionState; also the default

std::unexpected<Fault> not_yet(std::string message) {
  return std::unexpected<Fault>(Fault{
      .remedy = Remedy::kWait, .error = {Errc::kUnavailable, std::move(message), {}}, .moved = {}});
}

Outcome<Endpoint> endpoint(const pb::ServerName& name, const char* whose) {
  if (name.host_name().empty() || name.port() == 0 || name.port() > 65535) {
    return not_yet(fmt::format("HBase did not report the address of {}", whose));
  }
  return Endpoint{name.host_name(), static_cast<std::uint16_t>(name.port())};
}

// A read of ZooKeeper that runs on a strand while the caller awaits it elsewhere.
struct Look {
  Result<std::optional<Bytes>> outcome = fail(Errc::kUnavailable, "ZooKeeper was not asked");
  Completion done;
};

// Signals the caller also if the coroutine is destroyed.
class LookGuard {
 public:
  explicit LookGuard(std::shared_ptr<Look> look) : look_(std::move(look)) {}
  LookGuard(LookGuard&&) = default;
  LookGuard& operator=(LookGuard&&) = delete;
  ~LookGuard() {
    if (look_ != nullptr) look_->done.finish({});
  }
  Look* operator->() const { return look_.get(); }

 private:
  std::shared_ptr<Look> look_;
};

boost::asio::awaitable<void> look_up(TaskTracker::TokenPtr token, LookGuard look,
                                     boost::asio::any_io_executor strand,
                                     const ClientOptions& options, std::string path) {
  static_cast<void>(token);
  Task<std::optional<Bytes>> reading = read_node(strand, options, path);
  look->outcome = co_await std::move(reading);
}

class ZookeeperRegistry final : public ConnectionRegistry {
 public:
  ZookeeperRegistry(const ClientOptions& options, boost::asio::any_io_executor executor,
                    const TaskTracker& activity)
      : options_(options), executor_(std::move(executor)), activity_(activity) {}

  RemoteTask<Endpoint> meta_server() override {
    pb::MetaRegionServer meta;
    RemoteTask<bool> reading = read("/meta-region-server", meta);
    auto found = co_await std::move(reading);
    if (!found) co_return std::unexpected(std::move(found).error());
    if (!*found || (meta.has_state() && meta.state() != kStateOpen)) {
      co_return not_yet("hbase:meta is not open on any region server yet");
    }
    co_return endpoint(meta.server(), "hbase:meta");
  }

  RemoteTask<Endpoint> master() override {
    pb::Master master;
    RemoteTask<bool> reading = read("/master", master);
    auto found = co_await std::move(reading);
    if (!found) co_return std::unexpected(std::move(found).error());
    if (!*found) co_return not_yet("HBase has no master now");
    co_return endpoint(master.master(), "the master");
  }

 private:
  // Whether the node exists; if so, reads its message.
  RemoteTask<bool> read(std::string node, google::protobuf::MessageLite& message) {
    TaskTracker::TokenPtr token = activity_.token();
    if (token == nullptr) co_return give_up(Errc::kUnavailable, "the HBase client is closed");
    const auto look = std::make_shared<Look>();
    const boost::asio::any_io_executor strand = boost::asio::make_strand(executor_);
    boost::asio::co_spawn(
        strand, look_up(std::move(token), LookGuard(look), strand, options_, options_.root + node),
        boost::asio::detached);
    const Result<void> looked = co_await look->done.wait();
    static_cast<void>(looked);  // the outcome holds the error
    if (!look->outcome) co_return not_yet(look->outcome.error().message);
    const std::optional<Bytes>& value = *look->outcome;
    if (!value) co_return false;
    const Result<BytesView> bytes = message_in_node(*value);
    if (!bytes) co_return not_yet(options_.root + node + ": " + bytes.error().message);
    if (!message.ParseFromArray(bytes->data(), static_cast<int>(bytes->size()))) {
      co_return not_yet(fmt::format("ZooKeeper, node {}{}: not a message", options_.root, node));
    }
    co_return true;
  }

  const ClientOptions& options_;
  const boost::asio::any_io_executor executor_;
  const TaskTracker& activity_;
};

class RpcRegistry final : public ConnectionRegistry {
 public:
  RpcRegistry(const ClientOptions& options, ConnectionPool& servers)
      : options_(options), servers_(servers) {}

  RemoteTask<Endpoint> meta_server() override {
    pb::GetMetaRegionLocationsResponse response;
    RemoteTask<void> asking = ask("GetMetaRegionLocations", response);
    auto asked = co_await std::move(asking);
    if (!asked) co_return std::unexpected(std::move(asked).error());
    for (const pb::RegionLocation& location : response.meta_locations()) {
      if (location.region_info().replica_id() != 0) continue;
      co_return endpoint(location.server_name(), "hbase:meta");
    }
    co_return not_yet("hbase:meta is not open on any region server yet");
  }

  RemoteTask<Endpoint> master() override {
    pb::GetActiveMasterResponse response;
    RemoteTask<void> asking = ask("GetActiveMaster", response);
    auto asked = co_await std::move(asking);
    if (!asked) co_return std::unexpected(std::move(asked).error());
    co_return endpoint(response.server_name(), "the master");
  }

 private:
  // Asks one server after another until one answers; starts with the last one that answered.
  RemoteTask<void> ask(const char* method, google::protobuf::MessageLite& response) {
    const std::size_t first = next_;
    Fault fault;
    for (std::size_t i = 0; i < options_.registry.size(); ++i) {
      const std::size_t at = (first + i) % options_.registry.size();
      Call call;
      call.method = method;
      call.timeout_ms = options_.connect_ms_max;
      RemoteTask<Reply> calling =
          servers_.call(options_.registry[at], kRegistryService, std::move(call));
      Outcome<Reply> reply = co_await std::move(calling);
      if (reply &&
          response.ParseFromArray(reply->message.data(), static_cast<int>(reply->message.size()))) {
        next_ = at;
        co_return Outcome<void>();
      }
      if (!reply) fault = std::move(reply).error();
    }
    co_return not_yet(fault.error.message);
  }

  const ClientOptions& options_;
  ConnectionPool& servers_;
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace

std::unique_ptr<ConnectionRegistry> zookeeper_registry(const ClientOptions& options,
                                                       const boost::asio::any_io_executor& executor,
                                                       const TaskTracker& activity) {
  return std::make_unique<ZookeeperRegistry>(options, executor, activity);
}

std::unique_ptr<ConnectionRegistry> rpc_registry(const ClientOptions& options,
                                                 ConnectionPool& servers) {
  return std::make_unique<RpcRegistry>(options, servers);
}

}  // namespace halite::storage::hbase
