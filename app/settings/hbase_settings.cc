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

// The words of a comma-separated list, without blanks around them.
std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    words.push_back(word);
  }
  return words;
}

// Parses "a:1,b" into endpoints; hosts without a port get the standard port.
Result<std::vector<storage::hbase::Endpoint>> parse_endpoints(std::string_view setting,
                                                              std::string_view text,
                                                              std::uint16_t standard_port) {
  std::vector<storage::hbase::Endpoint> endpoints;
  for (const std::string_view one : split_list(text)) {
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

// Parses a list of protections, in SASL's or HBase's words.
Result<std::uint8_t> parse_protections(const std::string& text) {
  using storage::hbase::Protection;
  std::uint8_t protections = 0;
  for (const std::string_view word : split_list(text)) {
    Protection one = Protection::kAuthentication;
    if (word == "auth-int" || word == "integrity") {
      one = Protection::kIntegrity;
    } else if (word == "auth-conf" || word == "privacy") {
      one = Protection::kPrivacy;
    } else if (word != "auth" && word != "authentication") {
      protections = 0;
      break;
    }
    protections |= static_cast<std::uint8_t>(one);
  }
  if (protections != 0) return protections;
  return fail(Errc::kInvalidArgument,
              fmt::format("hbase.protection: bad value \"{}\": expected a comma-separated list of "
                          "auth, auth-int, auth-conf",
                          text));
}

Result<void> resolve_security(HBaseSettings& hbase) {
  storage::hbase::KerberosOptions& kerberos = hbase.store.client.kerberos;
  const storage::hbase::TlsOptions& tls = hbase.store.client.tls;
  kerberos.enabled = hbase.authentication == "kerberos";
  TRY(kerberos.protections, parse_protections(hbase.protection));
  if (!kerberos.enabled && !kerberos.keytab.empty()) {
    return fail(Errc::kInvalidArgument, "hbase.keytab requires hbase.authentication = kerberos");
  }
  if (!kerberos.keytab.empty() && !kerberos.credentials_cache.empty()) {
    return fail(Errc::kInvalidArgument,
                "hbase.keytab and hbase.credentials_cache exclude each other");
  }
  if (!kerberos.server_principal.contains('/')) {
    return fail(Errc::kInvalidArgument,
                fmt::format("hbase.server_principal: bad value \"{}\": expected SERVICE/_HOST or "
                            "SERVICE/_HOST@REALM",
                            kerberos.server_principal));
  }
  if (tls.certificate.empty() != tls.key.empty()) {
    return fail(Errc::kInvalidArgument, "hbase.tls_certificate and hbase.tls_key belong together");
  }
  if (!tls.enabled && !(tls.ca.empty() && tls.certificate.empty())) {
    return fail(Errc::kInvalidArgument,
                "hbase.tls_ca and hbase.tls_certificate require hbase.tls = true");
  }
  return {};
}

void declare_security(Config& config, HBaseSettings& hbase) {
  storage::hbase::KerberosOptions& kerberos = hbase.store.client.kerberos;
  storage::hbase::TlsOptions& tls = hbase.store.client.tls;
  config.choice("hbase.authentication", hbase.authentication, {"simple", "kerberos"},
                "How Halite authenticates to masters and region servers. simple = it only sends "
                "hbase.user. KRB5_CONFIG names Kerberos' settings, if not /etc/krb5.conf.");
  config.text("hbase.keytab", kerberos.keytab,
              "Keytab with which Halite logs in and renews its ticket. Empty = use "
              "hbase.credentials_cache.");
  config.text("hbase.principal", kerberos.principal,
              "Kerberos principal of Halite, such as halite/_HOST@REALM. _HOST = the full name of "
              "this machine. Empty = the first one of the keytab, or the owner of the cache.");
  config.text("hbase.credentials_cache", kerberos.credentials_cache,
              "Credentials cache that another program fills (kinit, k5start), such as "
              "FILE:/run/halite.cc. Empty = KRB5CCNAME or the system's default.");
  config.text("hbase.server_principal", kerberos.server_principal,
              "Kerberos principal of the servers. _HOST = the server's name in hbase:meta. Without "
              "@REALM it is in Halite's realm.");
  config.text("hbase.protection", hbase.protection,
              "Allowed protection of connections with Kerberos: a comma-separated list of auth "
              "(none), auth-int (checksums), auth-conf (encryption). Halite uses the strongest one "
              "that the server offers (hbase.rpc.protection).");
  config.flag("hbase.tls", tls.enabled,
              "Uses TLS to masters and region servers (HBase 2.6 and later).");
  config.text("hbase.tls_ca", tls.ca,
              "PEM file with the certificates that sign those of the servers. Empty = the "
              "system's.");
  config.text("hbase.tls_certificate", tls.certificate,
              "PEM file with Halite's certificate for HBase, then its intermediate certificates. "
              "Empty = none.");
  config.text("hbase.tls_key", tls.key, "PEM file with the private key of hbase.tls_certificate.");
  config.flag("hbase.tls_verify_host", tls.verify_host,
              "Requires that a server's certificate has its name in hbase:meta.");
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
              "User name that Halite sends to HBase. HBase does not verify it. Not used with "
              "Kerberos.");
  declare_security(config, hbase);
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
  TRY_VOID(resolve_security(hbase));
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
