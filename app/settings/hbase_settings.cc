// The settings of --store hbase.
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/settings/options.h"
#include "common/bytes/read_number.h"
#include "common/units.h"

namespace halite::app {
namespace {

constexpr std::uint16_t kZookeeperPort = 2181;
constexpr std::uint16_t kMasterPort = 16'000;

// Parses "a:1,b" into endpoints; hosts without a port get the standard port.
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
      if (!read_number(port, endpoint.port)) endpoint.port = 0;
    }
    if (endpoint.host.empty() || endpoint.port == 0) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("{}: bad value \"{}\": expected a comma-separated list of HOST:PORT, "
                              "such as zk1:2181,zk2:2181",
                              setting, text));
    }
    endpoints.push_back(std::move(endpoint));
  }
  return endpoints;
}

Result<void> settle_columns(Options& options) {
  const HBaseSettings& hbase = options.hbase;
  const bool backfill = hbase.compact_batches == "backfill";
  if (!hbase.appends && !backfill) return {};
  if (options.row_layout != RowLayoutKind::kOpentsdb) {
    return fail(Errc::kInvalidArgument,
                fmt::format("{} requires storage.layout = opentsdb",
                            backfill ? "hbase.compact_batches" : "hbase.appends"));
  }
  if (hbase.appends && backfill) {
    return fail(Errc::kInvalidArgument, "hbase.appends requires hbase.compact_batches = off");
  }
  using storage::ColumnForm;
  options.cells.columns.form = backfill ? ColumnForm::kBackfill : ColumnForm::kAppend;
  return {};
}

// Puts Halite's own tables beside the points. Access may be limited to one namespace, and two
// OpenTSDBs in two namespaces must not share a table.
void keep_together(storage::CellPointStoreOptions& cells) {
  const std::string space = cells.data_table.substr(0, cells.data_table.find(':') + 1);
  if (space.empty()) return;
  cells.series_table = space + cells.series_table;
  cells.settings_table = space + cells.settings_table;
}

void declare_regions(Config& config, HBaseSettings& hbase) {
  config.count("hbase.regions_max", hbase.regions_max, {1, 10'000}, "regions",
               "Maximum regions per region server when the table of points is created.");
  config.count("hbase.region_servers", hbase.region_servers, {0, 100'000}, "servers",
               "Number of region servers for which the table of points is split. 0 = the servers "
               "that are online.");
  config.duration_ms("hbase.major_compaction_ms", hbase.major_compaction_ms, {0, 3650 * kDayMs},
                     "HBase's own hbase.hregion.majorcompaction interval. A ring of slots waits "
                     "twice this time before it reuses keys.");
  config.duration_ms("hbase.late_max_ms", hbase.late_max_ms, {0, 36'500 * kDayMs},
                     "Maximum age of a point on arrival. 0 = storage.ttl_ms. Lower values free "
                     "slots sooner, because HBase counts the TTL from the write.");
  config.count("hbase.quiet_hour_begin", hbase.care.hour_begin, {0, 23}, "o'clock, UTC",
               "Hour (UTC) from which Halite asks HBase to compact expired regions of a ring. "
               "Equal to hbase.quiet_hour_end = at any time.");
  config.count("hbase.quiet_hour_end", hbase.care.hour_end, {0, 23}, "o'clock, UTC",
               "Hour (UTC) at which the compaction of expired regions ends.");
  config.duration_ms("hbase.region_care_interval_ms", hbase.care.interval_ms, {100, kDayMs},
                     "Interval between two searches for expired regions.");
}

}  // namespace

void declare_hbase(Config& config, HBaseSettings& hbase) {
  storage::HBaseStoreOptions& store = hbase.store;
  config.text("hbase.quorum", hbase.quorum,
              "ZooKeeper hosts: a comma-separated list of HOST:PORT. The default port is 2181.");
  config.text("hbase.root", store.client.root, "ZooKeeper node of the HBase cluster.");
  config.text("hbase.registry", hbase.registry,
              "Masters and region servers that replace ZooKeeper (HBase 2.5 and later): a "
              "comma-separated list of HOST:PORT. Empty = use ZooKeeper.");
  config.text("hbase.user", store.client.user,
              "User name that Halite sends to HBase. HBase does not verify it.");
  config.text("hbase.table_prefix", store.table_prefix,
              "Prefix of all table names, after the namespace. A prefix \"ns:\" puts all tables "
              "into one namespace.");
  config.choice("hbase.durability", hbase.durability, {"table", "none", "soon", "memory", "disk"},
                "Point at which HBase acknowledges a write: log on disk (disk), log in memory "
                "(memory), log later (soon), no log (none), or as the table defines (table).");
  config.flag("hbase.appends", hbase.appends,
              "Appends points to one column per row (tsd.storage.enable_appends). Needs fewer "
              "bytes, but more work on the servers.");
  config.choice("hbase.compact_batches", hbase.compact_batches, {"off", "backfill"},
                "backfill stores points of a past hour that arrive together in one column. Do not "
                "use it while an OpenTSDB with fix_duplicates = false reads the table.");
  config.count("hbase.threads", store.threads, {1, 1024}, "threads",
               "Threads for connections to HBase.");
  config.flag("hbase.create_tables", store.tables.create, "Creates missing tables.");
  config.text("hbase.compression", store.tables.compression,
              "COMPRESSION of new tables: NONE, GZ, SNAPPY, LZ4, ZSTD.");
  config.text("hbase.encoding", store.tables.encoding,
              "DATA_BLOCK_ENCODING of new tables: NONE, DIFF, FAST_DIFF.");
  config.text("hbase.bloom_filter", store.tables.bloom_filter,
              "BLOOMFILTER of new tables: NONE, ROW, ROWCOL.");
  config.flag("hbase.block_cache", store.tables.block_cache,
              "Enables the block cache of the region servers for new tables.");
  declare_regions(config, hbase);
  config.count("hbase.scan_parts_max", hbase.split.splits_max, {1, 64}, "scans",
               "Maximum parallel scans of one query. Tables with fewer salts are split into this "
               "many scans.");
  config.count("hbase.scan_part_series_min", hbase.split.split_series_min, {1, 1'000'000'000},
               "series", "Minimum series in one parallel scan.");
  config.flag(
      "hbase.expire", store.tables.expire,
      "Sets the TTL of new tables, so that HBase removes points older than storage.ttl_ms.");
  config.duration_ms("hbase.call_timeout_ms", store.client.call_ms_max, {100, kDayMs},
                     "Timeout of one request to one server.");
  config.duration_ms(
      "hbase.timeout_ms", store.client.operation_ms_max, {100, kDayMs},
      "Timeout of one read or write including retries, and of the wait for memory before it.");
  config.bytes("hbase.in_flight_bytes_max", store.client.operation_bytes_max, {kMiB, 1024 * kGiB},
               "Memory limit for concurrent reads and writes. Further operations wait.");
  config.bytes("hbase.server_bytes_max", store.client.server_bytes_max, {kMiB, 64 * kGiB},
               "Maximum bytes of concurrent requests to one server.");
}

Result<void> resolve_hbase_options(Options& options) {
  using storage::hbase::Durability;
  HBaseSettings& hbase = options.hbase;
  storage::hbase::ClientOptions& client = hbase.store.client;
  TRY(client.quorum, parse_endpoints("hbase.quorum", hbase.quorum, kZookeeperPort));
  TRY(client.registry, parse_endpoints("hbase.registry", hbase.registry, kMasterPort));
  if (client.quorum.empty() && client.registry.empty()) {
    return fail(Errc::kInvalidArgument, "--store hbase requires hbase.quorum or hbase.registry");
  }
  if (hbase.durability == "table") client.durability = Durability::kTableDefault;
  if (hbase.durability == "none") client.durability = Durability::kSkipLog;
  if (hbase.durability == "soon") client.durability = Durability::kAsyncLog;
  if (hbase.durability == "memory") client.durability = Durability::kSyncLog;
  if (hbase.durability == "disk") client.durability = Durability::kForceLog;
  TRY_VOID(settle_columns(options));
  keep_together(options.cells);
  options.cells.append.late_max_ms = hbase.late_max_ms;
  options.cells.scan.split = hbase.split;
  options.cells.append.turn_ms_max = client.operation_ms_max;
  options.cells.append.room_ms_max = client.operation_ms_max;
  // A slot's keys may be reused once HBase has certainly removed its old cells by compaction.
  const std::int64_t late_ms = hbase.late_max_ms == 0 ? options.layout.ttl_ms : hbase.late_max_ms;
  options.layout.cleaning_ms = storage::ring_cleaning_ms(hbase.major_compaction_ms, late_ms);
  return {};
}

}  // namespace halite::app
