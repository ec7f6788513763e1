// Declares all settings. The options structs hold the defaults; this file holds the descriptions.

#include "app/settings/memory_settings.h"
#include "app/settings/options.h"
#include "app/settings/setting_ranges.h"
#include "common/units.h"

namespace halite::app {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;
// A query opens one scan for each salt, all at once.
constexpr std::int64_t kSaltBucketsMax = 65'536;

void declare_process(Config& config, Options& options) {
  config.text("listen", options.listen,
              "Address and port on which the server accepts HTTP and telnet.");
  config.text("data_dir", options.data_dir,
              "Directory that holds the data. The server creates it if it does not exist.");
  config.flag("read_only", options.read_only.wanted,
              "Answers queries and writes nothing to the data directory. The directory may be a "
              "copy or may be on a read-only file system.");
  config.bytes("read_only_bytes_max", options.read_only.bytes_max, {16 * kMiB, 1024 * kGiB},
               "Memory limit for start-up writes in read-only mode, such as points replayed from "
               "the write-ahead log.");
  config.choice("store", options.store,
                {{"engine", StoreKind::kEngine},
                 {"rocksdb", StoreKind::kRocksDb},
                 {"memory", StoreKind::kMemory},
                 {"hbase", StoreKind::kHBase}},
                "Storage backend: engine (the embedded engine), rocksdb or hbase (one cell per "
                "point), or memory (lost when the process ends).");
  config.duration_ms("storage.close_timeout_ms", options.close_timeout_ms, {1'000, kDayMs},
                     "Time the store may take to close at shutdown. After it, the process exits "
                     "with status 1; acknowledged points are durable.");
  config.choice("log.level", options.log.level, {"debug", "info", "warning", "error"},
                "Lowest level that is logged.");
  config.choice("log.format", options.log.format, {"text", "json"},
                "Log format: text, or json with one object per line.");
  config.count("log.lines_max", options.log.lines_max, {0, 100'000}, "lines",
               "Recent log lines kept for /logs. 0 keeps none.");
  config.bytes(
      "log.queue_bytes_max", options.log.queue_bytes_max, {64 << 10, kGiB},
      "Maximum bytes of log lines that wait to be written. Further lines are dropped and counted.");
  config.count("threads.web", options.threads.web, {0, 1024}, "threads",
               "Threads for connections and parsing. 0 = one per processor.");
  config.count("threads.query", options.threads.query, {0, 1024}, "threads",
               "Threads for queries. 0 = one per processor.");
  config.count("threads.small_query", options.threads.small_query, {0, 1024}, "threads",
               "Threads for small queries that read from disk, separate from large queries. 0 = "
               "one per processor.");
  config.flag("self_metrics.enabled", options.self_metrics.enabled,
              "Stores the server's own metrics as halite.*.");
  config.duration_ms("self_metrics.interval_ms", options.self_metrics.interval_ms, {100, kDayMs},
                     "Interval between two samples of the server's own metrics.");
  config.text("self_metrics.host", options.self_metrics.host,
              "Value of the tag host on the server's own metrics. Empty = this machine's name.");
}

void declare_web_limits(Config& config, web::WebOptions& options) {
  config.count("web.backlog", options.backlog, {1, 65'535}, "connections",
               "Maximum connections that wait to be accepted.");
  config.count(
      "web.connections_max", options.connections_max, kAny, "connections",
      "Maximum open connections. The server closes further connections at once. 0 = no limit.");
  config.count("web.connections_per_address_max", options.connections_per_address_max, kAny,
               "connections",
               "Maximum open connections from one address. The server closes further connections "
               "at once. 0 = no limit.");
  config.duration_ms("web.idle_timeout_ms", options.idle_timeout_ms, {0, kDayMs},
                     "Closes an HTTP connection that is idle between requests, or a silent telnet "
                     "connection that must log in first. 0 = no limit.");
  config.duration_ms("web.telnet_idle_timeout_ms", options.telnet_idle_timeout_ms, {0, 30 * kDayMs},
                     "Closes a telnet connection that sends nothing for this time. 0 = no limit.");
  config.duration_ms(
      "web.request_timeout_ms", options.request_timeout_ms, {0, kDayMs},
      "Maximum time from the first byte of a request to its last byte. 0 = no limit.");
  config.duration_ms(
      "web.write_timeout_ms", options.write_timeout_ms, {0, kDayMs},
      "Closes a connection whose client does not read its answer for this time. 0 = no limit.");
  config.duration_ms(
      "web.linger_timeout_ms", options.linger_timeout_ms, {0, kMinuteMs},
      "Time to read the rest of a refused request, so that the client can receive the refusal.");
  config.count("web.requests_per_connection_max", options.requests_per_connection_max, kAny,
               "requests", "Closes a connection after this many requests. 0 = no limit.");
  config.bytes("web.header_bytes_max", options.header_bytes_max, {1024, 64 * kMiB},
               "Maximum size of a request line and its headers.");
  config.bytes("web.body_bytes_max", options.body_bytes_max, {1, 16 * kGiB},
               "Maximum size of a request body as sent, and after conversion to UTF-8.");
  config.flag("web.long_bodies", options.long_bodies,
              "Accepts bodies over 8 KiB and chunked bodies. OpenTSDB refuses both by default.");
  config.bytes("web.body_inflated_bytes_max", options.body_inflated_bytes_max, {1, 16 * kGiB},
               "Maximum size of a request body after decompression and conversion to UTF-8.");
  config.bytes("web.bodies_bytes_max", options.bodies_bytes_max, {1, 1024 * kGiB},
               "Memory limit for all request bodies together.");
  config.count("web.suggest_names_max", options.suggest_names_max, kAtLeastOne, "names",
               "Maximum names in one answer of /api/suggest.");
  config.count("web.lookup_series_max", options.lookup_series_max, kAtLeastOne, "series",
               "Maximum series in one answer of /api/search/lookup.");
  config.duration_ms("web.client_gone_grace_ms", options.client_gone_grace_ms, {0, kDayMs},
                     "Time from the end of a client's stream until the server cancels its query.");
  config.bytes("web.gzip_bytes_min", options.gzip_bytes_min, kAny,
               "Minimum size of a compressed answer. Shorter answers are sent uncompressed.");
  config.count(
      "web.gzip_level", options.gzip_level, {0, 9}, "level",
      "Compression level of answers: 1 is fastest, 9 is smallest, 0 turns compression off.");
  config.bytes("web.line_bytes_max", options.line_bytes_max, {64, kGiB},
               "Maximum length of a telnet line.");
  config.bytes("web.telnet_reply_bytes_max", options.telnet_reply_bytes_max, {1024, kGiB},
               "Maximum bytes of replies that wait for a telnet client to read them. Further "
               "replies are dropped.");
  config.count(
      "web.telnet_side_lines_max", options.telnet_side_lines_max, {1, 100'000}, "lines",
      "Maximum rollup or histogram lines of one telnet connection that are stored in one batch.");
  config.bytes("web.telnet_side_bytes_max", options.telnet_side_bytes_max, {1024, kGiB},
               "Maximum bytes of rollup or histogram lines of one telnet connection that are "
               "stored in one batch.");
  config.count("web.telnet_flushes_max", options.telnet_flushes_max, {1, 100'000}, "batches",
               "Maximum batches of one telnet connection that are not yet durable. Reading stops "
               "at this limit.");
  config.duration_ms("web.telnet_durable_ms", options.telnet_durable_ms, {1, kMinuteMs},
                     "Time in which telnet points become durable. If they take longer, the server "
                     "stops reading until they are.");
  config.bytes("web.read_bytes", options.read_bytes, {1024, 64 * kMiB},
               "Maximum bytes of one read from a socket.");
  config.duration_ms("web.stop_timeout_ms", options.stop_timeout_ms, {0, 60 * kMinuteMs},
                     "Time that running requests may take to finish at shutdown.");
  config.duration_ms("web.abandon_timeout_ms", options.abandon_timeout_ms, {1000, 60 * kMinuteMs},
                     "Time after web.stop_timeout_ms for requests that wait for the store. After "
                     "it, the process exits with status 1.");
}

void declare_web_manners(Config& config, Options& options) {
  web::WebOptions& web = options.web;
  config.choice("web.mode", options.web_mode, {"rw", "ro", "wo"},
                "Operating mode: rw (read and write), ro (queries only) or wo (writes only).");
  config.flag("web.api", web.api, "Enables the endpoints under /api.");
  config.flag(
      "web.pages", web.pages,
      "Enables the page and the endpoints that are older than /api, such as /q and /suggest.");
  config.flag("web.stats_canonical", web.stats_canonical,
              "Names the host tag fqdn instead of host in /api/stats.");
  config.flag("web.stats_with_port", web.stats_with_port, "Adds the tag port to /api/stats.");
  config.flag("web.allow_delete", web.allow_delete,
              "Allows queries that delete the points they read.");
  config.flag("web.get_may_write", web.get_may_write,
              "Allows GET requests to change data, as OpenTSDB does: uid/assign, uid/rename and "
              "method_override.");
  config.flag("web.error_trace", web.error_trace,
              "Adds a trace to error answers, as OpenTSDB does.");
  config.flag(
      "web.last_whole_history", web.last_whole_history,
      "Makes /api/query/last without back_scan search all points. false = the current hour only.");
  config.flag("web.grafana_prefix", web.grafana_prefix,
              "Also serves the API under /grafana, with numbers that Grafana can read.");
  config.text(
      "web.cors_domains", web.cors_domains,
      "Origins from which browsers may send requests: a comma-separated list, or *. Empty = none.");
  config.text("web.hosts", web.hosts,
              "Host names that browsers may use besides this machine's names: a comma-separated "
              "list, or *. Empty = any, but none on a loopback address.");
  config.text("web.cors_headers", web.cors_headers,
              "Request headers allowed for the origins in web.cors_domains.");
  config.text("web.timezone", web.timezone,
              "Time zone for dates in queries that name none. Empty = this machine's time zone.");
}

void declare_layout(Config& config, Options& options) {
  storage::CyclicOptions& layout = options.layout;
  config.choice("storage.layout", options.row_layout,
                {{"auto", RowLayoutKind::kAuto},
                 {"cyclic", RowLayoutKind::kCyclic},
                 {"opentsdb", RowLayoutKind::kOpentsdb}},
                "Row layout of the cell stores: cyclic (for retention), opentsdb (OpenTSDB's "
                "format), or auto: opentsdb for hbase, else cyclic.");
  config.count("storage.salt_width", options.salt_width, {0, 8}, "bytes",
               "Width of the salt in the opentsdb layout. 0 = no salt.");
  config.duration_ms("storage.ttl_ms", layout.ttl_ms, {0, 36'500 * kDayMs},
                     "Time to live. Older points are refused and removed. 0 = kept forever.");
  config.text("storage.retention", options.retention,
              "TTLs by metric prefix, such as \"tmp.=7d, audit.=3650d\". The longest prefix wins; "
              "0 = forever. A metric keeps the rule under which it was created.");
  config.duration_ms("storage.future_max_ms", layout.future_max_ms, {0, 3650 * kDayMs},
                     "Maximum distance of a point's time ahead of the clock when storage.ttl_ms is "
                     "set. The ring of slots reserves this much space.");
  config.duration_ms(
      "storage.forecast_max_ms", layout.forecast_max_ms, {0, 36'500 * kDayMs},
      "Maximum distance of a point's time ahead of the clock when points are kept forever.");
  config.duration_ms("storage.slot_ms", layout.span_ms, {kMinuteMs, 24 * kDayMs},
                     "Time span of one slot, the unit of sealing and expiry.");
  config.count("storage.slots", layout.slots, {1, 1 << 24}, "slots",
               "Number of slots in the ring before keys are reused. Applies when a TTL is set.");
  config.count(
      "storage.salt_buckets", layout.salt_buckets, {1, kSaltBucketsMax}, "buckets",
      "Partitions of each metric, read in parallel. Maximum 256, or 65536 in the opentsdb layout.");
  config.count("storage.uid_width_metric", layout.widths.metric, {1, 8}, "bytes",
               "Width of a metric's id.");
  config.count("storage.uid_width_tag_key", layout.widths.tag_key, {1, 8}, "bytes",
               "Width of a tag key's id.");
  config.count("storage.uid_width_tag_value", layout.widths.tag_value, {1, 8}, "bytes",
               "Width of a tag value's id.");
}

void declare_cells(Config& config, storage::CellPointStoreOptions& cells) {
  config.text("storage.data_table", cells.data_table, "Name of the table that holds points.");
  config.text("storage.uid_table", cells.uid_table, "Name of the table that maps names to ids.");
  config.count("storage.series_max", cells.series_max, {1, 4'000'000'000}, "series",
               "Maximum series in memory.");
  config.bytes(
      "storage.series_bytes_max", cells.series_bytes_max, {kMiB, 1024 * kGiB},
      "Memory limit for series: about 220 bytes for a series with one tag, 740 bytes with ten.");
  config.count("storage.new_series_per_hour_max", cells.new_series.per_hour, kAny, "series",
               "Maximum new series per clock hour. 0 = no limit.");
  config.count("storage.series_per_metric_max", cells.new_series.per_metric, kAny, "series",
               "Maximum series per metric. Further new series are refused. 0 = no limit.");
  config.count("storage.in_flight_points_max", cells.append.in_flight_points_max, kAtLeastOne,
               "points",
               "Maximum points on their way to a cell store. Senders wait above this limit.");
  config.bytes("storage.in_flight_bytes_max", cells.append.in_flight_bytes_max, {kMiB, 1024 * kGiB},
               "Memory limit for points on their way to a cell store.");
  config.count("storage.exact_series_max", cells.scan.exact_series_max, kAny, "series",
               "Maximum series of a query that reads rows by key. Larger queries scan the metric. "
               "Cell stores only.");
  config.count("storage.exact_rows_max", cells.scan.exact_rows_max, kAny, "rows",
               "Maximum rows of a query that reads rows by key. Larger queries scan the metric. "
               "Cell stores only.");
  config.count("storage.row_cells_max", cells.scan.row_cells_max, {1024, 1'000'000'000}, "cells",
               "Maximum cells of one row that are held in memory together.");
}

void declare_meta(Config& config, storage::MetadataOptions& meta) {
  config.text("storage.meta_table", meta.meta_table,
              "Name of the table that holds TSMeta objects and series counters.");
  config.text("storage.tree_table", meta.tree_table,
              "Name of the table that holds trees and branches.");
  config.count("meta.annotations_max", meta.annotations.answer_max, kAtLeastOne, "annotations",
               "Maximum annotations in one answer.");
  config.count("meta.tree_answer_max", meta.trees.answer_max, kAtLeastOne, "entries",
               "Maximum leaves, and maximum child branches, in the answer for one branch.");
  storage::TrackOptions& track = meta.track;
  config.flag("meta.track_series", track.series,
              "Keeps a counter for each series that has points.");
  config.flag(
      "meta.count_points", track.points,
      "Counts points in these counters; otherwise each stays at 1. Requires meta.series_objects.");
  config.flag("meta.series_objects", track.series_objects,
              "Creates a TSMeta object for each series. Requires meta.track_series.");
  config.flag("meta.name_objects", track.name_objects,
              "Creates a UIDMeta object for each new name.");
  config.flag("meta.trees", meta.sort_into_trees,
              "Sorts new series into trees. Requires meta.series_objects.");
  config.duration_ms("meta.flush_interval_ms", track.flush_interval_ms, {1, kDayMs},
                     "Interval between two writes of counters and objects.");
  config.count("meta.writes_at_once", track.writes_at_once, {1, 100'000}, "writes",
               "Maximum concurrent writes of counters and objects.");
  config.count("meta.names_waiting_max", track.names_waiting_max, kAtLeastOne, "names",
               "Maximum new names that wait for a UIDMeta object. Further names get none.");
}

void declare_rocksdb(Config& config, Options& options) {
  storage::RocksOptions& rocks = options.rocks;
  config.bytes("rocksdb.block_cache_bytes", rocks.block_cache_bytes, {kMiB, 1024 * kGiB},
               "Memory for blocks read from files, including indexes and filters.");
  config.bytes("rocksdb.write_buffer_bytes", rocks.write_buffer_bytes, {kMiB, 64 * kGiB},
               "Memory for new cells of one column family before they are written to a file.");
  config.bytes("rocksdb.write_buffers_bytes_max", rocks.write_buffers_bytes_max,
               {kMiB, 1024 * kGiB}, "Memory limit for new cells of all column families together.");
  config.bytes(
      "rocksdb.log_bytes_max", rocks.log_bytes_max, {kMiB, 1024 * kGiB},
      "Maximum size of RocksDB's write-ahead logs. Above it, old cells are written to files.");
  config.count("rocksdb.open_files_max", rocks.open_files_max, {16, 10'000'000}, "files",
               "Maximum files that RocksDB keeps open.");
  config.count("rocksdb.read_threads", rocks.read_threads, {1, 1024}, "threads",
               "Threads for reads and scans.");
  config.count("rocksdb.background_threads", rocks.background_threads, {1, 1024}, "threads",
               "Threads for flushes and compactions, and for opening files at start-up.");
  config.choice(
      "rocksdb.compression", options.rocks_compression, {"none", "fast", "dense"},
      "Compression: none, fast (LZ4), or dense (LZ4 for new data, Zstandard for old data).");
  config.bytes("rocksdb.write_bytes_max", rocks.write_bytes_max, {kMiB, 2 * kGiB},
               "Maximum size of one write.");
  config.bytes("rocksdb.commit_queue_bytes_max", rocks.commit_queue_bytes_max, {kMiB, 64 * kGiB},
               "Maximum bytes of writes that wait for the disk. Writers wait above this limit.");
  config.bytes("rocksdb.commit_group_bytes_max", rocks.commit_group_bytes_max, {1024, 2 * kGiB},
               "Maximum bytes of writes that share one sync.");
  config.flag("rocksdb.accept_damaged_log", rocks.accept_damaged_log,
              "Opens the store although a log is damaged before acknowledged writes. Those writes "
              "are lost.");
}

void declare_engine(Config& config, storage::EngineOptions& engine) {
  engine.log.reserve_bytes = 16 * kMiB;
  config.flag("engine.accept_lost_names", engine.accept_lost_names,
              "Opens the store although names of stored series are lost. Those series are no "
              "longer available.");
  config.bytes("engine.head_freeze_bytes", engine.head_freeze_bytes, {kMiB, 1024 * kGiB},
               "Size of the active head at which it is frozen and flushed into chunks.");
  config.bytes(
      "engine.head_bytes_max", engine.head_bytes_max, {kMiB, 1024 * kGiB},
      "Memory limit for all heads, including those being flushed. Senders wait above this limit.");
  config.count("engine.head_freeze_points", engine.head_freeze_points, kAtLeastOne, "points",
               "Number of points at which a head with long runs per series is frozen. More points "
               "make recovery after a crash slower.");
  config.duration_ms("engine.head_age_max_ms", engine.head_age_max_ms, {1000, kDayMs},
                     "Maximum age of a head before it is flushed into chunks.");
  config.duration_ms(
      "engine.seal_quiet_ms", engine.seal_quiet_ms, {0, kDayMs},
      "Time after the end of a slot, and after its last flushed point, until the slot is sealed.");
  config.duration_ms("engine.series_idle_ms", engine.series_idle_ms, {0, 365 * kDayMs},
                     "Time without points in heads after which a series is removed from memory. "
                     "Its stored points stay; a query or a new point loads it again. 0 = never.");
  config.duration_ms("engine.seal_late_interval_ms", engine.seal_late_interval_ms, {0, 30 * kDayMs},
                     "Minimum interval between two searches of a sealed slot for late points.");
  config.count("engine.seal_late_percent", engine.seal_late_percent, {0, 100'000}, "percent",
               "Seals a series again when its late chunks reach this percentage of its sealed "
               "bytes. Lower values write more; higher values use more space.");
  config.count("engine.seal_late_chunks_max", engine.seal_late_chunks_max, {1, 1'000'000}, "chunks",
               "Seals a series again when it has this many late chunks.");
  config.count("engine.seal_cpu_percent", engine.seal_cpu_percent, {1, 100}, "percent",
               "Maximum share of one core for background sealing, not counting flushes. Does not "
               "limit POST /api/admin/seal.");
  config.duration_ms("engine.expiry_interval_ms", engine.expiry_interval_ms, {1000, kDayMs},
                     "Interval between two searches for slots older than storage.ttl_ms.");
  config.flag(
      "engine.expire_after_clock_jump", engine.expire_after_clock_jump,
      "Removes expired slots although the clock is far ahead of all data and of the last expiry.");
  config.bytes("engine.log_segment_bytes", engine.log.segment_bytes, {16 * kMiB, 4 * kGiB},
               "Size of one file of the write-ahead log.");
  config.duration_ms("engine.log_commit_interval_ms", engine.log.commit_interval_ms, {0, 10'000},
                     "Maximum delay of a sync when no client waits for durability.");
  config.bytes("engine.log_reserve_bytes", engine.log.reserve_bytes, {0, 1024 * kGiB},
               "Free disk space that the log leaves for the chunks that replace it, in addition to "
               "half of its own size.");
  config.bytes("engine.log_unsynced_bytes_max", engine.log.unsynced_bytes_max, {kMiB, 4 * kGiB},
               "Maximum bytes of points that are not yet durable. Senders wait above this limit.");
  config.bytes("engine.block_cache_bytes", engine.chunks.block_cache_bytes, {kMiB, 1024 * kGiB},
               "Memory for chunk blocks read from files, including indexes and filters.");
  config.count("engine.read_threads", engine.read_threads, {1, 1024}, "threads",
               "Threads for last-point queries, estimates and deletes that read from disk. Other "
               "queries use threads.query.");
}

}  // namespace

void declare_settings(Config& config, Options& options) {
  declare_process(config, options);
  declare_scrub_and_backup(config, options.care);
  declare_ingest(config, options);
  declare_query(config, options);
  declare_tracing(config, options);
  declare_web_limits(config, options.web);
  declare_access(config, options.web);
  declare_web_manners(config, options);
  declare_layout(config, options);
  declare_cells(config, options.cells);
  declare_sides(config, options);
  declare_meta(config, options.metadata);
  declare_rocksdb(config, options);
  declare_hbase(config, options.hbase);
  declare_engine(config, options.engine);
  declare_memory(config, options.memory);
  config.set_change(SettingChange::kFixed,
                    {"store", "storage.layout", "storage.salt_width", "storage.slot_ms",
                     "storage.slots", "storage.salt_buckets", "storage.uid_width_metric",
                     "storage.uid_width_tag_key", "storage.uid_width_tag_value"});
  config.set_change(SettingChange::kFileReread,
                    {"auth.file", "tls.certificate", "tls.key", "query.fetch_overrides"});
  config.set_change(SettingChange::kRuntime, {"log.level"});
  config.set_change(SettingChange::kReread, {"counters", "views"});
}

}  // namespace halite::app
