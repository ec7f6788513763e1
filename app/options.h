// All that `halite serve` can be told, each part's own options struct at its default.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/opentsdb_conf.h"
#include "app/store_kind.h"
#include "common/clock.h"
#include "common/config.h"
#include "ingest/rollup_writer.h"
#include "ingest/writer.h"
#include "query/limits.h"
#include "storage/backends/hbase/regions/region_compactor.h"
#include "storage/backends/hbase/table/hbase_store.h"
#include "storage/backends/rocks/options.h"
#include "storage/cells/cell_point_store.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/cells/scan_split.h"
#include "storage/files/files.h"
#include "storage/meta/metadata.h"
#include "storage/tools/check/scrub.h"
#include "storage/tsdb/core/options.h"
#include "web/options.h"

namespace halite::app {

struct LogOptions {
  std::string level = "info";             // log.level: debug, info, warning, error
  std::string format = "text";            // log.format: text or json, one object a line
  std::size_t lines_max = 1024;           // log.lines_max: the last ones, kept for /logs
  std::size_t queue_bytes_max = 4 << 20;  // log.queue_bytes_max: of lines that wait to be written
};

struct SelfMetricsOptions {
  bool enabled = true;                // self_metrics.enabled
  std::int64_t interval_ms = 10'000;  // self_metrics.interval_ms
  std::string host;                   // self_metrics.host: their tag; empty = this machine's name
};

struct ThreadOptions {
  std::uint32_t web = 0;          // threads.web: connections and parsing; 0 = as many as processors
  std::uint32_t query = 0;        // threads.query: answering; 0 = as many as processors
  std::uint32_t small_query = 0;  // threads.small_query: answering small questions; likewise
};

struct RollupSettings {
  bool enabled = false;         // rollups.enabled
  std::string config;           // rollups.config: JSON, or a file *.json
  ingest::RollupOptions rules;  // rollups.aggregate_tag ..; the aggregators' names are filled in
};

struct HBaseSettings {
  std::string quorum = "localhost";  // hbase.quorum: HOST[:PORT],.. of ZooKeeper
  std::string registry;              // hbase.registry: HOST:PORT,.. instead of it; empty = not used
  std::string durability = "disk";   // hbase.durability
  bool appends = false;              // hbase.appends
  std::string compact_batches = "off";             // hbase.compact_batches
  std::uint32_t regions_max = 50;                  // hbase.regions_max
  std::uint32_t region_servers = 0;                // hbase.region_servers: 0 = those that live
  std::int64_t major_compaction_ms = 604'800'000;  // hbase.major_compaction_ms
  std::int64_t late_max_ms = 0;                    // hbase.late_max_ms: 0 = as the TTL
  storage::RegionCompactorOptions care;            // hbase.quiet_hour_begin ..
  storage::ScanSplitOptions split;                 // hbase.scan_parts_max ..
  storage::HBaseStoreOptions store;                // what these become, and the rest
};

// What a server does for what it has stored.
struct ScrubBackupOptions {
  storage::check::ScrubOptions scrub;  // engine.scrub_interval_ms, engine.scrub_bytes_per_s
  std::string backup_dir;  // engine.backup_dir: for backups of a running server; empty = none
};

// A server on a data directory that it must not change: a copy, or a disk that is read-only.
struct ReadOnlyOptions {
  bool wanted = false;                   // read_only
  std::uint64_t bytes_max = 4ull << 30;  // read_only_bytes_max: of what a start would write
};

// What a server stands on. No settings: tests put a disk and a clock of their own underneath.
struct Environment {
  std::shared_ptr<storage::FileSystem> files;  // null = the operating system's
  std::shared_ptr<const Clock> clock;          // null = the operating system's
};

struct Options {
  std::string listen = "127.0.0.1:4242";
  std::string data_dir = "./halite-data";
  StoreKind store = StoreKind::kEngine;
  std::int64_t close_timeout_ms = 240'000;  // storage.close_timeout_ms: of the store when stopping
  LogOptions log;
  SelfMetricsOptions self_metrics;
  ThreadOptions threads;
  ingest::IngestOptions ingest;
  query::QueryLimits query;
  web::WebOptions web;
  // storage.layout; resolve_options() replaces kAuto.
  RowLayoutKind row_layout = RowLayoutKind::kAuto;
  storage::CyclicOptions layout;  // widths, salt and TTL count in either layout
  std::string retention;          // storage.retention
  std::uint32_t salt_width = 0;   // storage.salt_width: bytes, of the opentsdb layout
  storage::CellPointStoreOptions cells;
  storage::EngineOptions engine;
  RollupSettings rollups;
  std::string histograms;  // histograms.config: JSON, or a file *.json; empty = off
  storage::MetadataOptions metadata;
  storage::RocksOptions rocks;
  ScrubBackupOptions care;
  ReadOnlyOptions read_only;
  HBaseSettings hbase;
  std::string rocks_compression = "dense";  // rocksdb.compression
  std::string web_mode = "rw";              // web.mode
  bool skip_unknown_values = false;         // query.skip_unknown_values
  OpentsdbConf opentsdb;                    // what --opentsdb-conf said
  Environment environment;
};

// Declares every setting with its unit and meaning. The options outlive the config.
void declare_settings(Config& config, Options& options);

// Those of query.*.
void declare_query(Config& config, Options& options);
// Those of auth.* and tls.*.
void declare_access(Config& config, web::WebOptions& web);
// Those of stored data's care.
void declare_scrub_and_backup(Config& config, ScrubBackupOptions& care);

// Those of --store hbase: their declaration, and their settling.
void declare_hbase(Config& config, HBaseSettings& hbase);
[[nodiscard]] Result<void> resolve_hbase_options(Options& options);

// What one setting becomes in several fields, once all are known: `listen` ("ADDR:PORT", with
// "[ADDR]:PORT" for IPv6), `web.mode`, this machine's name and processors where they are asked for.
[[nodiscard]] Result<void> resolve_options(Options& options);

// This machine's name, in characters that are legal in a tag value.
[[nodiscard]] std::string host_tag();

}  // namespace halite::app
