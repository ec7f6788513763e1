#include "app/opentsdb_keys.h"

#include <array>

namespace halite::app {
namespace {

using enum OpentsdbValue;

// A key that becomes a setting.
constexpr OpentsdbKey becomes(std::string_view name, std::string_view standard,
                              std::string_view setting, OpentsdbValue value = kText) {
  return {.name = name, .standard = standard, .shown = true, .setting = setting, .value = value};
}
// The same, only where the file names it.
constexpr OpentsdbKey when_given(std::string_view name, std::string_view standard,
                                 std::string_view setting, OpentsdbValue value) {
  OpentsdbKey key = becomes(name, standard, setting, value);
  key.only_when_given = true;
  return key;
}
// A key that says something of HBase, the JVM, plugins or caches, or what is done always.
constexpr OpentsdbKey no_meaning(std::string_view name, std::string_view standard = "") {
  return {.name = name, .standard = standard, .shown = true, .setting = {}, .meaningless = true};
}
// One that opentsdb_conf.cc reads itself.
constexpr OpentsdbKey by_hand(std::string_view name, std::string_view standard = "") {
  return {.name = name, .standard = standard, .shown = true, .setting = {}};
}
// OpenTSDB shows the key only where it is set.
constexpr OpentsdbKey hidden(OpentsdbKey key) {
  key.shown = false;
  return key;
}

constexpr std::array kKeys = {
    becomes("tsd.mode", "rw", "web.mode"),
    no_meaning("tsd.no_diediedie", "false"),
    by_hand("tsd.network.bind", "0.0.0.0"),
    hidden(by_hand("tsd.network.port")),
    hidden(when_given("tsd.network.backlog", "", "web.backlog", kCount)),
    no_meaning("tsd.network.async_io", "true"),
    no_meaning("tsd.network.tcp_no_delay", "true"),
    no_meaning("tsd.network.keep_alive", "true"),
    no_meaning("tsd.network.reuse_address", "true"),
    when_given("tsd.network.worker_threads", "", "threads.web", kCount),
    no_meaning("tsd.http.staticroot"),
    no_meaning("tsd.http.cachedir"),
    becomes("tsd.core.auto_create_metrics", "false", "ingest.create_metrics", kFlag),
    becomes("tsd.core.auto_create_tagks", "true", "ingest.create_tag_keys", kFlag),
    becomes("tsd.core.auto_create_tagvs", "true", "ingest.create_tag_values", kFlag),
    becomes("tsd.core.connections.limit", "0", "web.connections_max", kCount),
    by_hand("tsd.core.socket.timeout", "0"),
    no_meaning("tsd.core.enable_api", "true"),
    no_meaning("tsd.core.enable_ui", "true"),
    no_meaning("tsd.core.authentication.enable", "false"),
    no_meaning("tsd.core.authentication.plugin"),
    becomes("tsd.core.meta.enable_realtime_ts", "false", "meta.series_objects", kFlag),
    becomes("tsd.core.meta.enable_realtime_uid", "false", "meta.name_objects", kFlag),
    becomes("tsd.core.meta.enable_tsuid_incrementing", "false", "meta.count_points", kFlag),
    becomes("tsd.core.meta.enable_tsuid_tracking", "false", "meta.track_series", kFlag),
    no_meaning("tsd.core.meta.cache.enable", "false"),
    no_meaning("tsd.core.plugin_path"),
    no_meaning("tsd.core.preload_uid_cache", "false"),
    no_meaning("tsd.core.preload_uid_cache.max_entries", "300000"),
    no_meaning("tsd.core.stats_with_port", "false"),
    hidden(becomes("tsd.core.tag.allow_specialchars", "", "ingest.special_characters")),
    hidden(becomes("tsd.core.timezone", "", "web.timezone")),
    becomes("tsd.core.tree.enable_processing", "false", "meta.trees", kFlag),
    no_meaning("tsd.core.uid.random_metrics", "false"),
    no_meaning("tsd.core.bulk.allow_out_of_order_timestamps", "false"),
    hidden(no_meaning("tsd.core.histograms.config")),
    no_meaning("tsd.core.storage_exception_handler.enable", "false"),
    hidden(no_meaning("tsd.core.storage_exception_handler.plugin")),
    becomes("tsd.http.show_stack_trace", "true", "web.error_trace", kFlag),
    becomes("tsd.http.query.allow_delete", "false", "web.allow_delete", kFlag),
    no_meaning("tsd.http.header_tag"),
    when_given("tsd.http.request.enable_chunked", "false", "web.long_bodies", kFlag),
    by_hand("tsd.http.request.max_chunk", "4096"),
    becomes("tsd.http.request.cors_domains", "", "web.cors_domains"),
    becomes("tsd.http.request.cors_headers",
            "Authorization, Content-Type, Accept, Origin, User-Agent, DNT, Cache-Control, "
            "X-Mx-ReqToken, Keep-Alive, X-Requested-With, If-Modified-Since",
            "web.cors_headers"),
    hidden(no_meaning("tsd.http.rpc.plugins")),
    no_meaning("tsd.rpc.plugins"),
    becomes("tsd.rpc.telnet.return_errors", "true", "ingest.telnet_storage_errors", kFlag),
    no_meaning("tsd.query.filter.expansion_limit", "4096"),
    becomes("tsd.query.skip_unresolved_tagvs", "false", "query.skip_unknown_values", kFlag),
    no_meaning("tsd.query.allow_simultaneous_duplicates", "true"),
    no_meaning("tsd.query.enable_fuzzy_filter", "true"),
    no_meaning("tsd.query.limits.bytes.default", "0"),
    no_meaning("tsd.query.limits.bytes.allow_override", "false"),
    no_meaning("tsd.query.limits.data_points.default", "0"),
    no_meaning("tsd.query.limits.data_points.allow_override", "false"),
    no_meaning("tsd.query.limits.overrides.interval", "60000"),
    hidden(no_meaning("tsd.query.limits.overrides.config")),
    no_meaning("tsd.query.multi_get.enable", "false"),
    no_meaning("tsd.query.multi_get.limit", "131072"),
    no_meaning("tsd.query.multi_get.batch_size", "1024"),
    no_meaning("tsd.query.multi_get.concurrent", "20"),
    no_meaning("tsd.query.multi_get.get_all_salts", "false"),
    no_meaning("tsd.query.timeout", "0"),
    no_meaning("tsd.rollups.enable", "false"),
    no_meaning("tsd.rollups.tag_raw", "false"),
    no_meaning("tsd.rollups.block_derived", "true"),
    no_meaning("tsd.rollups.agg_tag_key", "_aggregate"),
    no_meaning("tsd.rollups.raw_agg_tag_value", "RAW"),
    hidden(no_meaning("tsd.rollups.config")),
    no_meaning("tsd.rollups.split_query.enable", "false"),
    no_meaning("tsd.rtpublisher.enable", "false"),
    no_meaning("tsd.rtpublisher.plugin"),
    no_meaning("tsd.search.enable", "false"),
    no_meaning("tsd.search.plugin"),
    no_meaning("tsd.startup.enable", "false"),
    no_meaning("tsd.startup.plugin"),
    no_meaning("tsd.timeseriesfilter.enable", "false"),
    no_meaning("tsd.timeseriesfilter.plugin"),
    no_meaning("tsd.uidfilter.enable", "false"),
    no_meaning("tsd.uidfilter.plugin"),
    no_meaning("tsd.stats.canonical", "false"),
    no_meaning("tsd.storage.enable_appends", "false"),
    no_meaning("tsd.storage.repair_appends", "false"),
    no_meaning("tsd.storage.enable_compaction", "true"),
    no_meaning("tsd.storage.compaction.flush_interval", "10"),
    no_meaning("tsd.storage.compaction.min_flush_threshold", "100"),
    no_meaning("tsd.storage.compaction.max_concurrent_flushes", "10000"),
    no_meaning("tsd.storage.compaction.flush_speed", "2"),
    no_meaning("tsd.storage.fix_duplicates", "false"),
    no_meaning("tsd.storage.flush_interval", "1000"),
    no_meaning("tsd.storage.hbase.data_table", "tsdb"),
    no_meaning("tsd.storage.hbase.uid_table", "tsdb-uid"),
    no_meaning("tsd.storage.hbase.tree_table", "tsdb-tree"),
    no_meaning("tsd.storage.hbase.meta_table", "tsdb-meta"),
    no_meaning("tsd.storage.hbase.zk_quorum", "localhost"),
    no_meaning("tsd.storage.hbase.zk_basedir", "/hbase"),
    no_meaning("tsd.storage.hbase.prefetch_meta", "false"),
    no_meaning("tsd.storage.hbase.scanner.maxNumRows", "128"),
    hidden(becomes("tsd.storage.max_tags", "8", "ingest.tags_max", kCount)),
    becomes("tsd.storage.salt.width", "0", "storage.salt_width", kCount),
    becomes("tsd.storage.salt.buckets", "20", "storage.salt_buckets", kCount),
    becomes("tsd.storage.uid.width.metric", "3", "storage.uid_width_metric", kCount),
    becomes("tsd.storage.uid.width.tagk", "3", "storage.uid_width_tag_key", kCount),
    becomes("tsd.storage.uid.width.tagv", "3", "storage.uid_width_tag_value", kCount),
    no_meaning("tsd.storage.use_otsdb_timestamp", "false"),
    no_meaning("tsd.storage.use_max_value", "true"),
    no_meaning("tsd.storage.get_date_tiered_compaction_start", "0"),
    no_meaning("tsd.uid.lru.enable", "false"),
    no_meaning("tsd.uid.lru.name.size", "5000000"),
    no_meaning("tsd.uid.lru.id.size", "5000000"),
    no_meaning("tsd.uid.use_mode", "false"),
};

}  // namespace

std::span<const OpentsdbKey> opentsdb_keys() { return kKeys; }

}  // namespace halite::app
