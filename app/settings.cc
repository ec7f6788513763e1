// The list of settings. Defaults stand in the options structs, meanings stand here.
#include <limits>

#include "app/options.h"
#include "common/units.h"

namespace halite::app {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;
// A question opens one scan a salt, and so many at once.
constexpr std::int64_t kSaltBucketsMax = 65'536;
constexpr SettingRange kAny = {0, std::numeric_limits<std::int64_t>::max()};
constexpr SettingRange kAtLeastOne = {1, std::numeric_limits<std::int64_t>::max()};

void declare_process(Config& config, Options& options) {
  config.text("listen", options.listen, "Address and port for HTTP and telnet, both on one.");
  config.text("data_dir", options.data_dir, "Where points live; made when it is not there.");
  config.flag("read_only", options.read_only.wanted,
              "Answers questions and changes nothing in the data directory, which may be a copy or "
              "on a disk that is read-only.");
  config.bytes("read_only_bytes_max", options.read_only.bytes_max, {16 * kMiB, 1024 * kGiB},
               "Memory for what a start would else write there, such as the log's points.");
  config.choice(
      "store", options.store, {"engine", "rocksdb", "memory", "hbase"},
      "What keeps the points: log, head and chunks (engine), or a cell each in RocksDB, in HBase, "
      "or in memory, which forgets them when the process ends. Fixed when the data directory is "
      "made.");
  config.duration_ms("storage.close_timeout_ms", options.close_timeout_ms, {1'000, kDayMs},
                     "For the store to be closed when the server stops; then the process ends "
                     "without, with status 1. What was acknowledged is durable.");
  config.choice("log.level", options.log.level, {"debug", "info", "warning", "error"},
                "The least important messages still logged.");
  config.choice("log.format", options.log.format, {"text", "json"},
                "Lines for people, or one JSON object a line.");
  config.count("log.lines_max", options.log.lines_max, {0, 100'000}, "lines",
               "The last lines of the log, kept for /logs. 0 = none are kept or shown.");
  config.bytes("log.queue_bytes_max", options.log.queue_bytes_max, {64 << 10, kGiB},
               "Lines of the log that wait to be written; more are dropped and counted.");
  config.count("threads.web", options.threads.web, {0, 1024}, "threads",
               "For connections and parsing; 0 = one a processor.");
  config.count("threads.query", options.threads.query, {0, 1024}, "threads",
               "For answering questions; 0 = one a processor.");
  config.count("threads.small_query", options.threads.small_query, {0, 1024}, "threads",
               "For small questions that want a disk, apart from large ones; 0 = one a processor.");
  config.flag("self_metrics.enabled", options.own_metrics.enabled,
              "Keeps the server's own numbers as metrics halite.*.");
  config.duration_ms("self_metrics.interval_ms", options.own_metrics.interval_ms, {100, kDayMs},
                     "How often they are taken.");
  config.text("self_metrics.host", options.own_metrics.host,
              "Their tag \"host\"; empty = this machine's name.");
}

void declare_ingest(Config& config, ingest::IngestOptions& options) {
  ingest::IngestLimits& limits = options.limits;
  config.count("ingest.tags_max", limits.tags_max, {1, 1024}, "tags", "Tags of one point.");
  config.bytes("ingest.name_bytes_max", limits.name_bytes_max, {1, 32'767},
               "Length of a metric, a tag key or a tag value.");
  config.count("ingest.points_per_request_max", limits.points_per_request_max, kAtLeastOne,
               "points", "Points in one HTTP body.");
  config.count("ingest.json_depth_max", limits.json_depth_max, {2, 1024}, "levels",
               "How deep a JSON body may nest.");
  config.bytes("ingest.series_cache_bytes_max", limits.series_cache_bytes_max, {kMiB, 1024 * kGiB},
               "Memory for series seen lately.");
  config.count("ingest.telnet_batch_points_max", limits.telnet_batch_points_max, {1, 1'000'000},
               "points", "Telnet points of one connection handed to the store at once.");
  config.bytes("ingest.telnet_batch_bytes_max", limits.telnet_batch_bytes_max, {64 << 10, kGiB},
               "Names not seen before, in telnet points handed to the store at once.");
  config.flag("ingest.telnet_storage_errors", options.telnet_storage_errors,
              "Telnet senders are told what the store could not do.");
  config.count("ingest.refused_samples_max", limits.refused_samples_max, {0, 100'000}, "points",
               "Refused points kept for the status page.");
  config.bytes("ingest.refused_sample_bytes_max", limits.refused_sample_bytes_max, {1, kMiB},
               "Of each of them.");
  config.count("ingest.refused_log_lines_max", limits.refused_log_lines_max, {0, 1'000'000},
               "lines", "Refused points of HTTP bodies logged in one second. 0 = none.");
  config.flag("ingest.create_metrics", options.create.metrics, "Metrics are created on first use.");
  config.flag("ingest.create_tag_keys", options.create.tag_keys,
              "Tag keys are created on first use.");
  config.flag("ingest.create_tag_values", options.create.tag_values,
              "Tag values are created on first use.");
  config.text("ingest.special_characters", options.special_characters,
              "Characters allowed in names besides letters, digits and -_./");
}

void declare_web_limits(Config& config, web::WebOptions& options) {
  config.count("web.backlog", options.backlog, {1, 65'535}, "connections",
               "Connections waiting to be accepted.");
  config.count("web.connections_max", options.connections_max, kAny, "connections",
               "Open connections; one more is closed at once. 0 = no limit.");
  config.count("web.connections_per_address_max", options.connections_per_address_max, kAny,
               "connections", "Open connections of one address, likewise. 0 = no limit.");
  config.duration_ms(
      "web.idle_timeout_ms", options.idle_timeout_ms, {0, kDayMs},
      "An HTTP connection between two requests; a telnet connection that wants a login "
      "first and sends nothing. 0 = no limit.");
  config.duration_ms("web.telnet_idle_timeout_ms", options.telnet_idle_timeout_ms, {0, 30 * kDayMs},
                     "A telnet connection that sends nothing. 0 = no limit.");
  config.duration_ms("web.request_timeout_ms", options.request_timeout_ms, {0, kDayMs},
                     "From a request's first byte to its last. 0 = no limit.");
  config.duration_ms("web.write_timeout_ms", options.write_timeout_ms, {0, kDayMs},
                     "A client that does not read its answer. 0 = no limit.");
  config.duration_ms("web.linger_timeout_ms", options.linger_timeout_ms, {0, kMinuteMs},
                     "For the rest of a refused request, so that its sender reads the refusal.");
  config.count("web.requests_per_connection_max", options.requests_per_connection_max, kAny,
               "requests", "Then the connection is closed. 0 = no limit.");
  config.bytes("web.header_bytes_max", options.header_bytes_max, {1024, 64 * kMiB},
               "A request line and its headers.");
  config.bytes("web.body_bytes_max", options.body_bytes_max, {1, 16 * kGiB},
               "A request body as it is sent, and in UTF-8.");
  config.flag("web.long_bodies", options.long_bodies,
              "Takes bodies over 8 KiB and bodies in chunks; OpenTSDB refuses them by default.");
  config.bytes("web.body_inflated_bytes_max", options.body_inflated_bytes_max, {1, 16 * kGiB},
               "A request body once it is decompressed, and in UTF-8.");
  config.bytes("web.bodies_bytes_max", options.bodies_bytes_max, {1, 1024 * kGiB},
               "Request bodies in memory at once, of all connections together.");
  config.count("web.suggest_names_max", options.suggest_names_max, kAtLeastOne, "names",
               "Names in one answer of /api/suggest.");
  config.count("web.lookup_series_max", options.lookup_series_max, kAtLeastOne, "series",
               "Series in one answer of /api/search/lookup.");
  config.duration_ms("web.client_gone_grace_ms", options.client_gone_grace_ms, {0, kDayMs},
                     "From a client's end of stream until its query is stopped.");
  config.bytes("web.gzip_bytes_min", options.gzip_bytes_min, kAny,
               "Shorter answers are not compressed.");
  config.count("web.gzip_level", options.gzip_level, {0, 9}, "level",
               "1 is fast, 9 is small, 0 never compresses.");
  config.bytes("web.line_bytes_max", options.line_bytes_max, {64, kGiB}, "A telnet line.");
  config.bytes("web.telnet_reply_bytes_max", options.telnet_reply_bytes_max, {1024, kGiB},
               "Replies that wait for a telnet client to read; more are dropped.");
  config.count("web.telnet_side_lines_max", options.telnet_side_lines_max, {1, 100'000}, "lines",
               "Rollups or histograms of one telnet connection stored together.");
  config.bytes("web.telnet_side_bytes_max", options.telnet_side_bytes_max, {1024, kGiB},
               "The same.");
  config.count("web.telnet_flushes_max", options.telnet_flushes_max, {1, 100'000}, "batches",
               "Batches of one telnet connection that are not durable yet.");
  config.duration_ms("web.telnet_durable_ms", options.telnet_durable_ms, {1, kMinuteMs},
                     "Telnet points are durable within this; if not, reading waits for them.");
  config.bytes("web.read_bytes", options.read_bytes, {1024, 64 * kMiB}, "One read from a socket.");
  config.duration_ms("web.stop_timeout_ms", options.stop_timeout_ms, {0, 60 * kMinuteMs},
                     "For running requests when the server stops.");
  config.duration_ms("web.abandon_timeout_ms", options.abandon_timeout_ms, {1000, 60 * kMinuteMs},
                     "After that, for the store to answer those that wait for it; then the process "
                     "ends without them, with status 1.");
}

void declare_web_manners(Config& config, Options& options) {
  web::WebOptions& web = options.web;
  config.choice("web.mode", options.web_mode, {"rw", "ro", "wo"},
                "Both ways, questions only, or points only.");
  config.flag("web.api", web.api, "Whether there are endpoints under /api.");
  config.flag("web.pages", web.pages,
              "Whether there are the page and the endpoints older than /api: /q, /suggest, ..");
  config.flag("web.stats_canonical", web.stats_canonical,
              "The server's own numbers carry the tag fqdn instead of host.");
  config.flag("web.stats_with_port", web.stats_with_port,
              "The server's own numbers carry the tag port.");
  config.flag("web.allow_delete", web.allow_delete, "A query may ask to delete what it reads.");
  config.flag(
      "web.get_may_write", web.get_may_write,
      "A GET may change things: uid/assign, uid/rename and method_override, as in OpenTSDB.");
  config.flag("web.error_trace", web.error_trace, "A \"trace\" in error answers, as OpenTSDB has.");
  config.flag("web.last_whole_history", web.last_whole_history,
              "/api/query/last without back_scan looks at all points; false: at this hour only.");
  config.flag("web.grafana_prefix", web.grafana_prefix,
              "The API a second time under /grafana, with numbers that Grafana can read.");
  config.text("web.cors_domains", web.cors_domains,
              "Origins that browsers may ask from: a comma list or *; empty = none.");
  config.text("web.hosts", web.hosts,
              "Names by which browsers may call the server (Host) besides this machine's: a comma "
              "list or *; empty = none "
              "where only this machine can reach the server, else any.");
  config.text("web.cors_headers", web.cors_headers, "Headers such browsers may send.");
  config.text("web.timezone", web.timezone,
              "For dates in questions that name no zone; empty = this machine's.");
}

void declare_layout(Config& config, Options& options) {
  storage::CyclicOptions& layout = options.layout;
  config.choice(
      "storage.layout", options.row_layout, {"auto", "cyclic", "opentsdb"},
      "How rows of cells (store rocksdb, memory, hbase) are laid out: for retention (cyclic), or "
      "byte for byte as OpenTSDB does, which is what hbase does by itself. Fixed when the data "
      "directory is made.");
  config.count("storage.salt_width", options.salt_width, {0, 8}, "bytes",
               "Of the salt in the opentsdb layout; 0 = not salted. Fixed when the directory is "
               "made.");
  config.duration_ms("storage.ttl_ms", layout.ttl_ms, {0, 36'500 * kDayMs},
                     "Points older than this are refused and forgotten. 0 = kept for ever.");
  config.text(
      "storage.retention", options.retention,
      "Metrics that are kept for a time of their own: \"tmp.=7d, audit.=3650d\", prefix and "
      "TTL, 0 for ever; the longest prefix counts. A metric stays where it was made.");
  config.duration_ms("storage.future_max_ms", layout.future_max_ms, {0, 3650 * kDayMs},
                     "With a TTL: how far ahead of the clock a point's time may be. A ring's slots "
                     "have room for so much, and no more.");
  config.duration_ms("storage.forecast_max_ms", layout.forecast_max_ms, {0, 36'500 * kDayMs},
                     "Where points are kept for ever: how far ahead of the clock a point's time "
                     "may be.");
  config.duration_ms("storage.slot_ms", layout.span_ms, {kMinuteMs, 24 * kDayMs},
                     "Time kept under one run of keys. Fixed when the data directory is made.");
  config.count("storage.slots", layout.slots, {1, 1 << 24}, "slots",
               "With a TTL, slots before keys are used again. Fixed when the directory is made.");
  config.count("storage.salt_buckets", layout.salt_buckets, {1, kSaltBucketsMax}, "buckets",
               "Parts each metric is spread over, read in parallel: up to 256, and more of rows as "
               "OpenTSDB's. Fixed when the directory is made.");
  config.count("storage.uid_width_metric", layout.widths.metric, {1, 8}, "bytes",
               "Of a metric's id. Fixed when the directory is made.");
  config.count("storage.uid_width_tag_key", layout.widths.tag_key, {1, 8}, "bytes",
               "Of a tag key's id. Fixed when the directory is made.");
  config.count("storage.uid_width_tag_value", layout.widths.tag_value, {1, 8}, "bytes",
               "Of a tag value's id. Fixed when the directory is made.");
}

void declare_cells(Config& config, storage::CellPointStoreOptions& cells) {
  config.text("storage.data_table", cells.data_table, "Name of the table of points.");
  config.text("storage.uid_table", cells.uid_table, "Of names and their ids.");
  config.count("storage.series_max", cells.series_max, {1, 4'000'000'000}, "series",
               "Series that may be known at a time.");
  config.bytes("storage.series_bytes_max", cells.series_bytes_max, {kMiB, 1024 * kGiB},
               "Memory for them: some 220 bytes each with one tag, 740 with ten.");
  config.count("storage.new_series_per_hour_max", cells.new_series.per_hour, kAny, "series",
               "New series taken in one hour of the clock; 0 = as many as come.");
  config.count("storage.series_per_metric_max", cells.new_series.per_metric, kAny, "series",
               "Series known of one metric, above which new ones are refused; 0 = any number.");
  config.count("storage.in_flight_points_max", cells.append.in_flight_points_max, kAtLeastOne,
               "points", "Points on their way to the store; senders wait above it.");
  config.bytes("storage.in_flight_bytes_max", cells.append.in_flight_bytes_max, {kMiB, 1024 * kGiB},
               "Memory for them.");
  config.count("storage.exact_series_max", cells.scan.exact_series_max, kAny, "series",
               "A query for no more series than this reads their rows by key; for more, it walks "
               "the metric.");
  config.count("storage.exact_rows_max", cells.scan.exact_rows_max, kAny, "rows",
               "And for no more rows than this.");
  config.count("storage.row_cells_max", cells.scan.row_cells_max, {1024, 1'000'000'000}, "cells",
               "Of one row that must be seen together.");
}

void declare_sides(Config& config, Options& options) {
  RollupSettings& rollups = options.rollups;
  config.flag("rollups.enabled", rollups.enabled, "Takes and answers rollups.");
  config.text("rollups.config", rollups.config,
              "Their intervals, tables and aggregators' ids, as OpenTSDB's tsd.rollups.config: "
              "JSON, or the name of a file *.json.");
  config.text("rollups.aggregate_tag", rollups.rules.aggregate_tag,
              "The tag that tells by which aggregator series were summed up.");
  config.text("rollups.raw_value", rollups.rules.raw_value,
              "Its value where none were: such a filter asks for series themselves.");
  config.flag("rollups.tag_raw", rollups.rules.tag_raw,
              "Rollups of series themselves get that tag, too.");
  config.flag("rollups.block_derived", rollups.rules.block_derived,
              "Refuses averages and deviations as rollups: sums and counts tell more.");
  config.text("histograms.config", options.histograms,
              "Codecs of histograms and their ids, as OpenTSDB's tsd.core.histograms.config: JSON, "
              "or the name of a file *.json. Empty = no histograms.");
}

void declare_meta(Config& config, storage::MetadataOptions& meta) {
  config.text("storage.meta_table", meta.meta_table, "Of TSMeta objects and counters of series.");
  config.text("storage.tree_table", meta.tree_table, "Of trees and their branches.");
  config.count("meta.annotations_max", meta.annotations.answer_max, kAtLeastOne, "annotations",
               "Annotations that one question may find.");
  config.count("meta.tree_answer_max", meta.trees.answer_max, kAtLeastOne, "entries",
               "Leaves, and branches, of one branch of a tree.");
  storage::TrackOptions& track = meta.track;
  config.flag("meta.track_series", track.series, "Keeps a counter for each series with points.");
  config.flag("meta.count_points", track.points,
              "With meta.series_objects, these counters count points; else they stay at 1.");
  config.flag("meta.series_objects", track.series_objects,
              "With meta.track_series, a TSMeta object for each series.");
  config.flag("meta.name_objects", track.name_objects, "A UIDMeta object for each new name.");
  config.flag("meta.trees", meta.sort_into_trees,
              "With meta.series_objects, new series are sorted into the trees.");
  config.duration_ms("meta.flush_interval_ms", track.flush_interval_ms, {1, kDayMs},
                     "How often counters and objects are written.");
  config.count("meta.writes_at_once", track.writes_at_once, {1, 100'000}, "writes",
               "Of them under way at once.");
  config.count("meta.names_waiting_max", track.names_waiting_max, kAtLeastOne, "names",
               "New names that wait for their object; more get none.");
}

void declare_rocksdb(Config& config, Options& options) {
  storage::RocksOptions& rocks = options.rocks;
  config.bytes("rocksdb.block_cache_bytes", rocks.block_cache_bytes, {kMiB, 1024 * kGiB},
               "Memory for blocks read from files, their indexes and filters.");
  config.bytes("rocksdb.write_buffer_bytes", rocks.write_buffer_bytes, {kMiB, 64 * kGiB},
               "Memory for new cells of one column family before they become a file.");
  config.bytes("rocksdb.write_buffers_bytes_max", rocks.write_buffers_bytes_max,
               {kMiB, 1024 * kGiB}, "The same for all families together.");
  config.bytes("rocksdb.log_bytes_max", rocks.log_bytes_max, {kMiB, 1024 * kGiB},
               "Length of the write-ahead logs; above it, old cells are written to files.");
  config.count("rocksdb.open_files_max", rocks.open_files_max, {16, 10'000'000}, "files",
               "Files held open.");
  config.count("rocksdb.read_threads", rocks.read_threads, {1, 1024}, "threads",
               "For reads and scans.");
  config.count("rocksdb.background_threads", rocks.background_threads, {1, 1024}, "threads",
               "For flushes and compactions, and for opening files at the start.");
  config.choice("rocksdb.compression", options.rocks_compression, {"none", "fast", "dense"},
                "fast is lz4; dense is lz4 where data is young and zstd where it comes to rest.");
  config.bytes("rocksdb.write_bytes_max", rocks.write_bytes_max, {kMiB, 2 * kGiB}, "One write.");
  config.bytes("rocksdb.commit_queue_bytes_max", rocks.commit_queue_bytes_max, {kMiB, 64 * kGiB},
               "Writes waiting for the disk; writers wait above it.");
  config.bytes("rocksdb.commit_group_bytes_max", rocks.commit_group_bytes_max, {1024, 2 * kGiB},
               "Writes that share one sync.");
  config.flag("rocksdb.accept_damaged_log", rocks.accept_damaged_log,
              "Opens although a log is damaged where acknowledged writes follow, and loses those.");
}

void declare_engine(Config& config, storage::EngineOptions& engine) {
  engine.log.reserve_bytes = 16 * kMiB;
  config.flag("engine.accept_lost_names", engine.accept_lost_names,
              "Opens although the names of series that have points are lost, and goes on without "
              "those series.");
  config.bytes("engine.head_freeze_bytes", engine.head_freeze_bytes, {kMiB, 1024 * kGiB},
               "Memory of recent points at which they are written into chunks.");
  config.bytes("engine.head_bytes_max", engine.head_bytes_max, {kMiB, 1024 * kGiB},
               "Memory of recent points, those being written too; senders wait above it.");
  config.count("engine.head_freeze_points", engine.head_freeze_points, kAtLeastOne, "points",
               "And the points at which they are, where series have long runs of them: more make a "
               "start after a crash longer.");
  config.duration_ms("engine.head_age_max_ms", engine.head_age_max_ms, {1000, kDayMs},
                     "Recent points are written into chunks at least so often.");
  config.duration_ms("engine.seal_quiet_ms", engine.seal_quiet_ms, {0, kDayMs},
                     "A slot is sealed so long after its end and the last point that came for it.");
  config.duration_ms("engine.seal_late_interval_ms", engine.seal_late_interval_ms, {0, 30 * kDayMs},
                     "A sealed slot is looked through for late points at most so often.");
  config.count("engine.seal_late_percent", engine.seal_late_percent, {0, 100'000}, "percent",
               "A sealed series is sealed again when its late chunks have so many percent of its "
               "bytes: less costs more writing, more costs space.");
  config.count("engine.seal_late_chunks_max", engine.seal_late_chunks_max, {1, 1'000'000}, "chunks",
               "The same when it has so many late chunks.");
  config.count("engine.seal_cpu_percent", engine.seal_cpu_percent, {1, 100}, "percent",
               "How much of a core sealing may take by itself, flushes apart; what POST "
               "/api/admin/seal asks for "
               "is not slowed down.");
  config.duration_ms("engine.expiry_interval_ms", engine.expiry_interval_ms, {1000, kDayMs},
                     "How often slots older than storage.ttl_ms are looked for and removed.");
  config.flag("engine.expire_after_clock_jump", engine.expire_after_clock_jump,
              "Removes expired slots although the clock is far ahead of all data and of the last "
              "removal.");
  config.bytes("engine.log_segment_bytes", engine.log.segment_bytes, {16 * kMiB, 4 * kGiB},
               "One file of the log.");
  config.duration_ms("engine.log_commit_interval_ms", engine.log.commit_interval_ms, {0, 10'000},
                     "How long points whose durability nobody waits for may share a sync.");
  config.bytes("engine.log_reserve_bytes", engine.log.reserve_bytes, {0, 1024 * kGiB},
               "How much room on the disk the log leaves, beside half of its own size, to the "
               "chunks that take its place.");
  config.bytes("engine.log_unsynced_bytes_max", engine.log.unsynced_bytes_max, {kMiB, 4 * kGiB},
               "Points that are not durable yet; senders wait above it.");
  config.bytes("engine.block_cache_bytes", engine.chunks.block_cache_bytes, {kMiB, 1024 * kGiB},
               "Memory for chunks read from files, their indexes and filters.");
  config.count("engine.read_threads", engine.read_threads, {1, 1024}, "threads",
               "For newest points, estimates and deletes, which wait for a disk; questions read on "
               "threads.query.");
}

}  // namespace

void declare_settings(Config& config, Options& options) {
  declare_process(config, options);
  declare_care(config, options.care);
  declare_ingest(config, options.ingest);
  declare_query(config, options);
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
}

}  // namespace halite::app
