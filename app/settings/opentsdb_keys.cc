#include "app/settings/opentsdb_keys.h"

#include <array>

namespace halite::app {
namespace {

using enum OpentsdbValue;

// A key that becomes a setting.
constexpr OpentsdbKey becomes(std::string_view name, std::string_view standard,
                              std::string_view setting, OpentsdbValue value = kText) {
  return {.name = name, .standard = standard, .shown = true, .setting = setting, .value = value};
}
// A key that becomes a setting only if the file names it.
constexpr OpentsdbKey when_given(std::string_view name, std::string_view standard,
                                 std::string_view setting, OpentsdbValue value) {
  OpentsdbKey key = becomes(name, standard, setting, value);
  key.only_when_given = true;
  return key;
}
// A key without effect, and why.
constexpr OpentsdbKey no_meaning(std::string_view name, std::string_view standard = "",
                                 std::string_view reason = "Halite has no such option") {
  return {.name = name, .standard = standard, .shown = true, .setting = {}, .meaningless = reason};
}
constexpr std::string_view kAlways = "always so";
constexpr std::string_view kNoPlugins = "Java plugins cannot be loaded";
constexpr std::string_view kCompaction = "Halite merges points when it reads and writes them";
constexpr std::string_view kHbaseScan = "Halite plans reads by their cost";
constexpr std::string_view kIdCache = "Halite sizes its caches of names and ids itself";
// A key that opentsdb_conf.cc handles.
constexpr OpentsdbKey by_hand(std::string_view name, std::string_view standard = "") {
  return {.name = name, .standard = standard, .shown = true, .setting = {}};
}
// A key that OpenTSDB shows only if it is set.
constexpr OpentsdbKey hidden(OpentsdbKey key) {
  key.shown = false;
  return key;
}

constexpr std::string_view kNoJaas = "set hbase.keytab and hbase.principal instead of a JAAS file";

constexpr std::array kKeys = {
    becomes("tsd.mode", "rw", "web.mode"),
    no_meaning("tsd.no_diediedie", "false", "diediedie is always refused"),
    by_hand("tsd.network.bind", "0.0.0.0"),
    hidden(by_hand("tsd.network.port")),
    hidden(when_given("tsd.network.backlog", "", "web.backlog", kCount)),
    no_meaning("tsd.network.async_io", "true", kAlways),
    no_meaning("tsd.network.tcp_no_delay", "true", kAlways),
    no_meaning("tsd.network.keep_alive", "true", kAlways),
    no_meaning("tsd.network.reuse_address", "true", kAlways),
    when_given("tsd.network.worker_threads", "", "threads.web", kCount),
    no_meaning("tsd.http.staticroot", "", "the page is built into the binary"),
    no_meaning("tsd.http.cachedir", "", "Halite does not use gnuplot"),
    becomes("tsd.core.auto_create_metrics", "false", "ingest.create_metrics", kFlag),
    becomes("tsd.core.auto_create_tagks", "true", "ingest.create_tag_keys", kFlag),
    becomes("tsd.core.auto_create_tagvs", "true", "ingest.create_tag_values", kFlag),
    becomes("tsd.core.connections.limit", "0", "web.connections_max", kCount),
    by_hand("tsd.core.socket.timeout", "0"),
    becomes("tsd.core.enable_api", "true", "web.api", kExactTrue),
    becomes("tsd.core.enable_ui", "true", "web.pages", kExactTrue),
    by_hand("tsd.core.authentication.enable", "false"),
    no_meaning("tsd.core.authentication.plugin", "", kNoPlugins),
    becomes("tsd.core.meta.enable_realtime_ts", "false", "meta.series_objects", kFlag),
    becomes("tsd.core.meta.enable_realtime_uid", "false", "meta.name_objects", kFlag),
    becomes("tsd.core.meta.enable_tsuid_incrementing", "false", "meta.count_points", kFlag),
    becomes("tsd.core.meta.enable_tsuid_tracking", "false", "meta.track_series", kFlag),
    no_meaning("tsd.core.meta.cache.enable", "false", kNoPlugins),
    no_meaning("tsd.core.plugin_path", "", kNoPlugins),
    no_meaning("tsd.core.preload_uid_cache", "false", kIdCache),
    no_meaning("tsd.core.preload_uid_cache.max_entries", "300000", kIdCache),
    becomes("tsd.core.stats_with_port", "false", "web.stats_with_port", kFlag),
    hidden(becomes("tsd.core.tag.allow_specialchars", "", "ingest.special_characters")),
    hidden(becomes("tsd.core.timezone", "", "web.timezone")),
    becomes("tsd.core.tree.enable_processing", "false", "meta.trees", kFlag),
    no_meaning("tsd.core.uid.random_metrics", "false",
               "ids are assigned in the order of first use"),
    no_meaning("tsd.core.bulk.allow_out_of_order_timestamps", "false",
               "points can arrive in any order"),
    hidden(becomes("tsd.core.histograms.config", "", "histograms.config")),
    no_meaning("tsd.core.storage_exception_handler.enable", "false", kNoPlugins),
    hidden(no_meaning("tsd.core.storage_exception_handler.plugin", "", kNoPlugins)),
    becomes("tsd.http.show_stack_trace", "true", "web.error_trace", kFlag),
    becomes("tsd.http.query.allow_delete", "false", "web.allow_delete", kFlag),
    no_meaning("tsd.http.header_tag", "", "OpenTSDB reads the header and ignores it"),
    when_given("tsd.http.request.enable_chunked", "false", "web.long_bodies", kFlag),
    by_hand("tsd.http.request.max_chunk", "4096"),
    becomes("tsd.http.request.cors_domains", "", "web.cors_domains"),
    becomes("tsd.http.request.cors_headers",
            "Authorization, Content-Type, Accept, Origin, User-Agent, DNT, Cache-Control, "
            "X-Mx-ReqToken, Keep-Alive, X-Requested-With, If-Modified-Since",
            "web.cors_headers"),
    hidden(no_meaning("tsd.http.rpc.plugins", "", kNoPlugins)),
    no_meaning("tsd.rpc.plugins", "", kNoPlugins),
    becomes("tsd.rpc.telnet.return_errors", "true", "ingest.telnet_storage_errors", kFlag),
    no_meaning("tsd.query.filter.expansion_limit", "4096", "it never changes an answer"),
    becomes("tsd.query.skip_unresolved_tagvs", "false", "query.skip_unknown_values", kFlag),
    no_meaning(
        "tsd.query.allow_simultaneous_duplicates", "true",
        "OpenTSDB identifies clients by connection, and one connection runs one query at a time"),
    no_meaning("tsd.query.enable_fuzzy_filter", "true", kHbaseScan),
    becomes("tsd.query.limits.bytes.default", "0", "query.fetch_bytes_max", kCount),
    becomes("tsd.query.limits.bytes.allow_override", "false", "query.fetch_bytes_override", kFlag),
    becomes("tsd.query.limits.data_points.default", "0", "query.fetch_points_max", kCount),
    becomes("tsd.query.limits.data_points.allow_override", "false", "query.fetch_points_override",
            kFlag),
    becomes("tsd.query.limits.overrides.interval", "60000", "query.fetch_overrides_interval_ms",
            kMilliseconds),
    hidden(becomes("tsd.query.limits.overrides.config", "", "query.fetch_overrides")),
    no_meaning("tsd.query.multi_get.enable", "false", kHbaseScan),
    no_meaning("tsd.query.multi_get.limit", "131072", kHbaseScan),
    no_meaning("tsd.query.multi_get.batch_size", "1024", kHbaseScan),
    no_meaning("tsd.query.multi_get.concurrent", "20", kHbaseScan),
    no_meaning("tsd.query.multi_get.get_all_salts", "false", kHbaseScan),
    by_hand("tsd.query.timeout", "0"),
    becomes("tsd.rollups.enable", "false", "rollups.enabled", kFlag),
    becomes("tsd.rollups.tag_raw", "false", "rollups.tag_raw", kFlag),
    becomes("tsd.rollups.block_derived", "true", "rollups.block_derived", kFlag),
    becomes("tsd.rollups.agg_tag_key", "_aggregate", "rollups.aggregate_tag"),
    becomes("tsd.rollups.raw_agg_tag_value", "RAW", "rollups.raw_value"),
    hidden(becomes("tsd.rollups.config", "", "rollups.config")),
    no_meaning("tsd.rollups.split_query.enable", "false", "an answer comes from one table"),
    no_meaning("tsd.rtpublisher.enable", "false", kNoPlugins),
    no_meaning("tsd.rtpublisher.plugin", "", kNoPlugins),
    no_meaning("tsd.search.enable", "false", kNoPlugins),
    no_meaning("tsd.search.plugin", "", kNoPlugins),
    no_meaning("tsd.startup.enable", "false", kNoPlugins),
    no_meaning("tsd.startup.plugin", "", kNoPlugins),
    no_meaning("tsd.timeseriesfilter.enable", "false", kNoPlugins),
    no_meaning("tsd.timeseriesfilter.plugin", "", kNoPlugins),
    no_meaning("tsd.uidfilter.enable", "false", kNoPlugins),
    no_meaning("tsd.uidfilter.plugin", "", kNoPlugins),
    becomes("tsd.stats.canonical", "false", "web.stats_canonical", kFlag),
    becomes("tsd.storage.enable_appends", "false", "hbase.appends", kFlag),
    no_meaning("tsd.storage.repair_appends", "false", kCompaction),
    no_meaning("tsd.storage.enable_compaction", "true", kCompaction),
    no_meaning("tsd.storage.compaction.flush_interval", "10", kCompaction),
    no_meaning("tsd.storage.compaction.min_flush_threshold", "100", kCompaction),
    no_meaning("tsd.storage.compaction.max_concurrent_flushes", "10000", kCompaction),
    no_meaning("tsd.storage.compaction.flush_speed", "2", kCompaction),
    no_meaning("tsd.storage.fix_duplicates", "false", "the last write always wins"),
    no_meaning("tsd.storage.flush_interval", "1000", "OpenTSDB never reads it"),
    becomes("tsd.storage.hbase.data_table", "tsdb", "storage.data_table"),
    becomes("tsd.storage.hbase.uid_table", "tsdb-uid", "storage.uid_table"),
    becomes("tsd.storage.hbase.tree_table", "tsdb-tree", "storage.tree_table"),
    becomes("tsd.storage.hbase.meta_table", "tsdb-meta", "storage.meta_table"),
    becomes("tsd.storage.hbase.zk_quorum", "localhost", "hbase.quorum"),
    becomes("tsd.storage.hbase.zk_basedir", "/hbase", "hbase.root"),
    no_meaning("tsd.storage.hbase.prefetch_meta", "false", kAlways),
    becomes("tsd.storage.hbase.scanner.maxNumRows", "128", "query.fetch_free_rows", kCount),
    hidden(becomes("tsd.storage.max_tags", "8", "ingest.tags_max", kCount)),
    becomes("tsd.storage.salt.width", "0", "storage.salt_width", kCount),
    becomes("tsd.storage.salt.buckets", "20", "storage.salt_buckets", kCount),
    becomes("tsd.storage.uid.width.metric", "3", "storage.uid_width_metric", kCount),
    becomes("tsd.storage.uid.width.tagk", "3", "storage.uid_width_tag_key", kCount),
    becomes("tsd.storage.uid.width.tagv", "3", "storage.uid_width_tag_value", kCount),
    by_hand("tsd.storage.use_otsdb_timestamp", "false"),
    no_meaning("tsd.storage.use_max_value", "true",
               "without use_otsdb_timestamp it has no effect in OpenTSDB either"),
    no_meaning("tsd.storage.get_date_tiered_compaction_start", "0",
               "without use_otsdb_timestamp it has no effect in OpenTSDB either"),
    no_meaning("tsd.uid.lru.enable", "false", kIdCache),
    no_meaning("tsd.uid.lru.name.size", "5000000", kIdCache),
    no_meaning("tsd.uid.lru.id.size", "5000000", kIdCache),
    no_meaning("tsd.uid.use_mode", "false", kIdCache),
    // Of asynchbase, OpenTSDB's client of HBase.
    hidden(by_hand("hbase.security.auth.enable")),
    hidden(by_hand("hbase.security.authentication")),
    hidden(when_given("hbase.security.simple.username", "", "hbase.user", kText)),
    hidden(
        when_given("hbase.kerberos.regionserver.principal", "", "hbase.server_principal", kText)),
    hidden(when_given("hbase.rpc.protection", "", "hbase.protection", kText)),
    hidden(no_meaning("hbase.sasl.clientconfig", "", kNoJaas)),
    hidden(no_meaning("java.security.auth.login.config", "", kNoJaas)),
    hidden(no_meaning("asynchbase.security.auth.kinit", "", "Halite does not run kinit")),
    hidden(no_meaning("hbase.security.auth.94", "", "HBase 0.94 is not supported")),
};

}  // namespace

std::span<const OpentsdbKey> opentsdb_keys() { return kKeys; }

}  // namespace halite::app
