// The options of `halite serve`: the options struct of each part, with its defaults.
//
// Over 140 lines because the options of all parts meet here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "app/settings/opentsdb_conf.h"
#include "app/store_kind.h"
#include "app/tracing/trace_exporter.h"
#include "common/clock.h"
#include "common/config/config.h"
#include "common/file_reloader.h"
#include "common/result.h"
#include "ingest/rollup_writer.h"
#include "ingest/writer.h"
#include "query/limits.h"
#include "storage/backends/hbase/regions/region_compactor.h"
#include "storage/backends/hbase/table/hbase_store.h"
#include "storage/backends/rocks/options.h"
#include "storage/cells/cell_point_store.h"
#include "storage/cells/counters/counter_store.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/cells/scan_split.h"
#include "storage/files/files.h"
#include "storage/meta/metadata.h"
#include "storage/tools/check/scrub.h"
#include "storage/tsdb/core/options.h"
#include "storage/views/view_store.h"
#include "web/options.h"

namespace halite::app {

struct LogOptions {
  std::string level = "info";             // log.level: debug, info, warning, error
  std::string format = "text";            // log.format: text or json, one object a line
  std::size_t lines_max = 1024;           // log.lines_max: latest lines, for /logs
  std::size_t queue_bytes_max = 4 << 20;  // log.queue_bytes_max: of lines not yet written
};

struct SelfMetricsOptions {
  bool enabled = true;                // self_metrics.enabled
  std::int64_t interval_ms = 10'000;  // self_metrics.interval_ms
  std::string host;                   // self_metrics.host: the tag; empty = the machine's name
};

struct ThreadOptions {
  std::uint32_t web = 0;          // threads.web: connections, parsing; 0 = one for each processor
  std::uint32_t query = 0;        // threads.query: queries; 0 = one for each processor
  std::uint32_t small_query = 0;  // threads.small_query: small queries; 0 likewise
};

struct MemoryOptions {
  std::uint64_t limit = 64 << 20;  // memory.limit; resolve_memory() sets the default
};

struct RollupSettings {
  bool enabled = false;         // rollups.enabled
  std::string config;           // rollups.config: JSON, or a file *.json
  ingest::RollupOptions rules;  // rollups.aggregate_tag ..; resolve_options() adds aggregators
};

struct HBaseSettings {
  std::string quorum = "localhost";       // hbase.quorum: HOST[:PORT],.. of ZooKeeper
  std::string registry;                   // hbase.registry: HOST:PORT,.. instead; empty = not used
  std::string durability = "disk";        // hbase.durability
  std::string authentication = "simple";  // hbase.authentication
  std::string protection = "auth-conf,auth-int,auth";  // hbase.protection
  bool appends = false;                                // hbase.appends
  std::string compact_batches = "off";                 // hbase.compact_batches
  std::uint32_t regions_max = 50;                      // hbase.regions_max
  std::uint32_t region_servers = 0;                    // hbase.region_servers: 0 = the active ones
  std::int64_t major_compaction_ms = 604'800'000;      // hbase.major_compaction_ms
  std::int64_t late_max_ms = 0;                        // hbase.late_max_ms: 0 = the TTL
  storage::RegionCompactorOptions care;                // hbase.quiet_hour_begin ..
  storage::ScanSplitOptions split;                     // hbase.scan_parts_max ..
  storage::HBaseStoreOptions store;                    // the result of these, and the rest
};

// How requests name the bucket: in their path, or as a part of the host's name.
enum class S3Addressing : std::uint8_t { kAuto, kPath, kHost };

// The S3 store of backups whose place is s3://BUCKET/PREFIX. Empty texts: app/tools/backup_place.h.
struct S3Settings {
  std::string endpoint;                           // backup.s3_endpoint
  std::string region;                             // backup.s3_region
  S3Addressing addressing = S3Addressing::kAuto;  // backup.s3_addressing
  std::string ca_file;                            // backup.s3_ca_file
  std::string credentials_file;                   // backup.s3_credentials_file
  std::string profile;                            // backup.s3_profile
};

// Scrub and backup of stored data.
struct ScrubBackupOptions {
  storage::check::ScrubOptions scrub;  // engine.scrub_interval_ms, engine.scrub_bytes_per_s
  std::string backup_dir;  // engine.backup_dir: for backups of a running server; empty = none
  S3Settings s3;
};

// A server that must not change its data directory: a copy, or a read-only disk.
struct ReadOnlyOptions {
  bool wanted = false;                   // read_only
  std::uint64_t bytes_max = 4ull << 30;  // read_only_bytes_max: of writes during a start
};

// The environment of a server. Not settings: tests replace the disk and the clock.
struct Environment {
  std::shared_ptr<storage::FileSystem> files;  // null = the operating system's
  std::shared_ptr<const Clock> clock;          // null = the operating system's
};

struct Options {
  std::string listen = "127.0.0.1:4242";
  std::string graphite_listen;         // graphite.listen; empty = off
  std::string graphite_pickle_listen;  // graphite.pickle_listen
  std::string graphite_templates;      // graphite.templates
  std::string otlp_resource_attributes;
  std::string data_dir = "./halite-data";
  StoreKind store = StoreKind::kEngine;
  std::int64_t close_timeout_ms = 240'000;  // storage.close_timeout_ms: for the store at a stop
  LogOptions log;
  SelfMetricsOptions self_metrics;
  TracingOptions tracing;
  MemoryOptions memory;
  ThreadOptions threads;
  ingest::IngestOptions ingest;
  query::QueryLimits query;
  web::WebOptions web;
  // storage.layout; resolve_options() replaces kAuto.
  RowLayoutKind row_layout = RowLayoutKind::kAuto;
  storage::CyclicOptions layout;  // widths, salt and TTL apply to both layouts
  std::string retention;          // storage.retention
  std::uint32_t salt_width = 0;   // storage.salt_width: bytes, of the opentsdb layout
  storage::CellPointStoreOptions cells;
  storage::EngineOptions engine;
  RollupSettings rollups;
  std::string counters;                   // counters: JSON; empty = no rules
  std::string counters_place;             // of that text, such as "halite.toml:3"; empty = unknown
  storage::CounterLimits counter_limits;  // ingest.counter_collect_ms ..
  std::string views;                      // views: JSON; empty = no views
  std::string views_place;                // of that text
  storage::ViewLimits view_limits;        // storage.views_settle_ms ..
  bool in_tool = false;  // not a server: the store does no work of its own, such as compactions
  std::uint32_t views_cpu_percent = 25;  // storage.views_cpu_percent
  std::string histograms;                // histograms.config: JSON, or a file *.json; empty = off
  storage::MetadataOptions metadata;
  storage::RocksOptions rocks;
  ScrubBackupOptions care;
  ReadOnlyOptions read_only;
  HBaseSettings hbase;
  std::string rocks_compression = "dense";  // rocksdb.compression
  std::string web_mode = "rw";              // web.mode
  bool skip_unknown_values = false;         // query.skip_unknown_values
  OpentsdbConf opentsdb;                    // from --opentsdb-conf
  Environment environment;
};

// Where the settings came from, to read them again.
struct SettingsFile {
  std::string path;  // empty: no file
  FileStamp stamp;   // of the file when it was read
  // With the same flags and environment as at the start.
  std::function<Result<Options>()> read;
};

// Declares every setting with its unit and description. The options outlive the config.
void declare_settings(Config& config, Options& options);

// Declares query.*.
void declare_query(Config& config, Options& options);
// Declares auth.* and tls.*.
void declare_access(Config& config, web::WebOptions& web);
// Declares ingest.*, influx.*, otlp.* and graphite.*.
void declare_ingest(Config& config, Options& options);
// Declares the settings of rollups, counters, views and histograms.
void declare_sides(Config& config, Options& options);
// Declares tracing.*.
void declare_tracing(Config& config, Options& options);
// Declares the settings of scrub and backup.
void declare_scrub_and_backup(Config& config, ScrubBackupOptions& care);

// Declares and resolves the settings of --store hbase.
void declare_hbase(Config& config, HBaseSettings& hbase);
[[nodiscard]] Result<void> resolve_hbase_options(Options& options);

// Makes resolved options those of a server that changes nothing. kInvalidArgument: the store has no
// data directory, or another setting excludes it.
[[nodiscard]] Result<void> make_read_only(Options& options);

// Resolves settings that depend on others or on the machine: `listen` ("ADDR:PORT", or
// "[ADDR]:PORT" for IPv6), `web.mode`, the machine's name and its number of processors.
[[nodiscard]] Result<void> resolve_options(Options& options);

// The machine's name, in characters that are legal in a tag value.
[[nodiscard]] std::string host_tag();

}  // namespace halite::app
