// The settings of --store hbase.
#include <charconv>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/options.h"

namespace halite::app {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;
constexpr std::int64_t kDayMs = 86'400'000;

constexpr std::uint16_t kZookeeperPort = 2181;
constexpr std::uint16_t kMasterPort = 16'000;

// "a:1,b" as endpoints; a host without a port has the standard one.
Result<std::vector<storage::hbase::Endpoint>> parse_endpoints(std::string_view setting,
                                                              std::string_view text,
                                                              std::uint16_t standard_port) {
  std::vector<storage::hbase::Endpoint> endpoints;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view one = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    const std::size_t colon = one.rfind(':');
    storage::hbase::Endpoint endpoint{std::string(one.substr(0, colon)), standard_port};
    if (colon != std::string_view::npos) {
      const std::string_view port = one.substr(colon + 1);
      const auto [end, error] =
          std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
      if (error != std::errc() || end != port.data() + port.size()) endpoint.port = 0;
    }
    if (endpoint.host.empty() || endpoint.port == 0) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("{} wants HOST:PORT by commas, such as zk1:2181,zk2:2181, not \"{}\"",
                              setting, text));
    }
    endpoints.push_back(std::move(endpoint));
  }
  return endpoints;
}

}  // namespace

void declare_hbase(Config& config, HBaseSettings& hbase) {
  storage::HBaseStoreOptions& store = hbase.store;
  config.text("hbase.quorum", hbase.quorum,
              "ZooKeeper's hosts, HOST:PORT by commas; a host alone has port 2181.");
  config.text("hbase.root", store.client.root, "ZooKeeper's node of the cluster.");
  config.text("hbase.registry", hbase.registry,
              "Masters and region servers, HOST:PORT by commas, to ask instead of ZooKeeper (HBase "
              "2.5 and newer). Empty = ZooKeeper is asked.");
  config.text("hbase.user", store.client.user,
              "The name HBase knows us by; it is believed without a check.");
  config.text("hbase.table_prefix", store.table_prefix, "Before the names of all tables.");
  config.choice("hbase.durability", hbase.durability, {"table", "none", "soon", "memory", "disk"},
                "What a write has reached when it is acknowledged: HBase's log on disks (disk), in "
                "the memory of the machines that keep it (memory), a log that is written soon, or "
                "none; or as the table says.");
  config.count("hbase.threads", store.threads, {1, 1024}, "threads", "For connections to HBase.");
  config.flag("hbase.create_tables", store.tables.create, "Makes tables that are not there.");
  config.text("hbase.compression", store.tables.compression,
              "Of new tables, as HBase's COMPRESSION: NONE, GZ, SNAPPY, LZ4, ZSTD.");
  config.text("hbase.encoding", store.tables.encoding,
              "Of new tables, as HBase's DATA_BLOCK_ENCODING: NONE, DIFF, FAST_DIFF.");
  config.flag("hbase.expire", store.tables.expire,
              "HBase removes what is older than storage.ttl_ms from tables made here.");
  config.duration_ms("hbase.call_timeout_ms", store.client.call_ms_max, {100, kDayMs},
                     "One request to one server.");
  config.duration_ms("hbase.timeout_ms", store.client.operation_ms_max, {100, kDayMs},
                     "One read or write with all its retries.");
  config.bytes("hbase.in_flight_bytes_max", store.client.operation_bytes_max, {kMiB, 1024 * kGiB},
               "Memory for reads and writes under way; more of them wait.");
  config.bytes("hbase.server_bytes_max", store.client.server_bytes_max, {kMiB, 64 * kGiB},
               "Of requests under way to one server.");
}

Result<void> settle_hbase(HBaseSettings& hbase) {
  using storage::hbase::Durability;
  storage::hbase::ClientOptions& client = hbase.store.client;
  TRY(client.quorum, parse_endpoints("hbase.quorum", hbase.quorum, kZookeeperPort));
  TRY(client.registry, parse_endpoints("hbase.registry", hbase.registry, kMasterPort));
  if (client.quorum.empty() && client.registry.empty()) {
    return fail(Errc::kInvalidArgument, "--store hbase wants hbase.quorum or hbase.registry");
  }
  if (hbase.durability == "table") client.durability = Durability::kTableDefault;
  if (hbase.durability == "none") client.durability = Durability::kSkipLog;
  if (hbase.durability == "soon") client.durability = Durability::kAsyncLog;
  if (hbase.durability == "memory") client.durability = Durability::kSyncLog;
  if (hbase.durability == "disk") client.durability = Durability::kForceLog;
  return {};
}

}  // namespace halite::app
