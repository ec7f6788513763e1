// The list of settings. Defaults stand in the options structs, meanings stand here.
#include <limits>

#include "app/options.h"

namespace halite::app {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kDayMs = 86'400'000;
constexpr SettingRange kAny = {0, std::numeric_limits<std::int64_t>::max()};
constexpr SettingRange kAtLeastOne = {1, std::numeric_limits<std::int64_t>::max()};

void declare_process(Config& config, Options& options) {
  config.text("listen", options.listen, "Address and port for HTTP and telnet, both on one.");
  config.text("data_dir", options.data_dir, "Where points live; made when it is not there.");
  config.choice("store", options.store, {"rocksdb", "memory"},
                "What keeps the points; memory forgets them when the process ends.");
  config.choice("log.level", options.log.level, {"debug", "info", "warning", "error"},
                "The least important messages still logged.");
  config.choice("log.format", options.log.format, {"text", "json"},
                "Lines for people, or one JSON object a line.");
  config.count("threads.web", options.threads.web, {0, 1024}, "threads",
               "For connections and parsing; 0 = one a processor.");
  config.count("threads.query", options.threads.query, {0, 1024}, "threads",
               "For answering questions; 0 = one a processor.");
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
  config.flag("ingest.create_metrics", options.create.metrics, "Metrics are created on first use.");
  config.flag("ingest.create_tag_keys", options.create.tag_keys,
              "Tag keys are created on first use.");
  config.flag("ingest.create_tag_values", options.create.tag_values,
              "Tag values are created on first use.");
  config.text("ingest.special_characters", options.special_characters,
              "Characters allowed in names besides letters, digits and -_./");
}

void declare_query(Config& config, Options& options) {
  query::QueryLimits& limits = options.query;
  config.count("query.series_max", limits.series_max, kAtLeastOne, "series",
               "Series one query may read.");
  config.count("query.points_max", limits.points_max, kAtLeastOne, "points",
               "Stored points one query may read.");
  config.bytes("query.bytes_max", limits.bytes_max, {kMiB, 1024 * kGiB},
               "Memory for one query's work.");
  config.count("query.output_points_max", limits.output_points_max, kAtLeastOne, "points",
               "Points in one answer.");
  config.duration_ms("query.timeout_ms", limits.timeout_ms, {1, kDayMs},
                     "How long a query may take.");
  config.bytes("query.regexp_bytes_max", limits.regexp_bytes_max, {1024, kGiB},
               "Memory for one regular expression.");
  config.count("query.sub_queries_max", limits.sub_queries_max, {1, 100'000}, "queries",
               "Sub-queries of one request.");
  config.flag("query.skip_unknown_values", options.skip_unknown_values,
              "An unknown tag value in a filter matches nothing instead of failing the query.");
}

void declare_web_limits(Config& config, web::WebOptions& options) {
  config.count("web.backlog", options.backlog, {1, 65'535}, "connections",
               "Connections waiting to be accepted.");
  config.count("web.connections_max", options.connections_max, kAny, "connections",
               "Open connections; one more is closed at once. 0 = no limit.");
  config.duration_ms("web.idle_timeout_ms", options.idle_timeout_ms, {0, kDayMs},
                     "An HTTP connection between two requests. 0 = no limit.");
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
               "A request body as it is sent.");
  config.bytes("web.body_inflated_bytes_max", options.body_inflated_bytes_max, {1, 16 * kGiB},
               "A request body once it is decompressed.");
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
  config.count("web.telnet_flushes_max", options.telnet_flushes_max, {1, 100'000}, "batches",
               "Batches of one telnet connection that are not durable yet.");
  config.bytes("web.read_bytes", options.read_bytes, {1024, 64 * kMiB}, "One read from a socket.");
  config.duration_ms("web.stop_timeout_ms", options.stop_timeout_ms, {0, 60 * kMinuteMs},
                     "For running requests when the server stops.");
}

void declare_web_manners(Config& config, Options& options) {
  web::WebOptions& web = options.web;
  config.choice("web.mode", options.web_mode, {"rw", "ro", "wo"},
                "Both ways, questions only, or points only.");
  config.flag("web.allow_delete", web.allow_delete, "A query may ask to delete what it reads.");
  config.flag("web.error_trace", web.error_trace, "A \"trace\" in error answers, as OpenTSDB has.");
  config.flag("web.grafana_prefix", web.grafana_prefix,
              "The API a second time under /grafana, with numbers that Grafana can read.");
  config.text("web.cors_domains", web.cors_domains,
              "Origins that browsers may ask from: a comma list or *; empty = none.");
  config.text("web.cors_headers", web.cors_headers, "Headers such browsers may send.");
  config.text("web.timezone", web.timezone,
              "For dates in questions that name no zone; empty = this machine's.");
}

}  // namespace

void declare_settings(Config& config, Options& options) {
  declare_process(config, options);
  declare_ingest(config, options.ingest);
  declare_query(config, options);
  declare_web_limits(config, options.web);
  declare_web_manners(config, options);
}

}  // namespace halite::app
