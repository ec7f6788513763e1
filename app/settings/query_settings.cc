// The settings of queries: limits for each query and for all together.

#include "app/settings/options.h"
#include "app/settings/setting_ranges.h"
#include "common/units.h"

namespace halite::app {
namespace {

// OpenTSDB's limits by metric.
void declare_fetch_limits(Config& config, query::FetchLimitOptions& fetch) {
  config.count(
      "query.fetch_points_max", fetch.points_max, kAny, "points",
      "Maximum stored points that one sub-query may fetch, as OpenTSDB counts them. 0 = no limit.");
  config.bytes(
      "query.fetch_bytes_max", fetch.bytes_max, kAny,
      "Maximum bytes that one sub-query may fetch, as OpenTSDB counts row bytes. 0 = no limit.");
  config.flag("query.fetch_points_override", fetch.points_override,
              "Exempts queries with overrideDataPointLimit from query.fetch_points_max.");
  config.flag("query.fetch_bytes_override", fetch.bytes_override,
              "Exempts queries with overrideByteLimit from query.fetch_bytes_max.");
  config.count("query.fetch_free_rows", fetch.free_rows, kAny, "rows",
               "Rows (one hour of one series) exempt from the fetch limits. OpenTSDB checks its "
               "limits only between batches of rows.");
  config.text("query.fetch_overrides", fetch.overrides,
              "JSON file with fetch limits for individual metrics. Empty = none.");
  config.duration_ms("query.fetch_overrides_interval_ms", fetch.overrides_interval_ms,
                     {1000, kDayMs},
                     "Interval between two reads of the query.fetch_overrides file.");
}

void declare_promql(Config& config, query::PromqlOptions& promql) {
  config.bytes("query.promql_bytes_max", promql.bytes_max, {1, kMiB},
               "Maximum length of an expression of PromQL.");
  config.count("query.promql_depth_max", promql.depth_max, {1, 500}, "levels",
               "Maximum nesting depth of an expression of PromQL.");
  config.duration_ms("query.promql_lookback_ms", promql.lookback_ms, {1, kDayMs},
                     "How old the newest sample of a series may be. Older ones are no result.");
  config.duration_ms("query.promql_step_ms", promql.default_step_ms, {1, kDayMs},
                     "Step of subqueries that have none, as in [1h:].");
  config.bytes("query.promql_cache_bytes_max", promql.cache_bytes_max, {0, 1024 * kGiB},
               "Memory limit of the cache for answers to range queries. 0 = no cache.");
  config.flag("query.promql_experimental", promql.experimental,
              "Allows functions, aggregations and fill modifiers that Prometheus calls "
              "experimental.");
}

}  // namespace

void declare_query(Config& config, Options& options) {
  query::QueryLimits& limits = options.query;
  config.count("query.series_max", limits.series_max, kAtLeastOne, "series",
               "Maximum series that one query may read.");
  config.count("query.points_max", limits.points_max, kAtLeastOne, "points",
               "Maximum stored points that one query may read.");
  config.bytes("query.bytes_max", limits.bytes_max, {kMiB, 1024 * kGiB},
               "Memory limit of one query.");
  config.count("query.output_points_max", limits.output_points_max, kAtLeastOne, "points",
               "Maximum points in one answer.");
  config.duration_ms("query.timeout_ms", limits.timeout_ms, {1, kDayMs},
                     "Maximum run time of a query, including the time in the queue.");
  config.bytes(
      "query.regexp_bytes_max", limits.regexp_bytes_max, {1024, kGiB},
      "Memory limit of one regular expression; those of a request may take 32 times that.");
  config.count("query.sub_queries_max", limits.sub_queries_max, {1, 100'000}, "queries",
               "Maximum sub-queries in one request.");
  config.count("query.expressions_max", limits.expressions_max, {1, 10'000}, "expressions",
               "Maximum expressions in one request.");
  config.bytes("query.expression_bytes_max", limits.expression_bytes_max, {1, 64 * 1024},
               "Maximum length of one expression.");
  config.count("query.expression_depth_max", limits.expression_depth_max, {1, 500}, "levels",
               "Maximum nesting depth of one expression.");
  config.count("query.running_max", limits.running_max, {1, 100'000}, "queries",
               "Maximum concurrent queries; small queries are counted separately. Further queries "
               "wait in the queue.");
  config.duration_ms("query.queue_ms", limits.queue_ms, {1, kDayMs},
                     "Maximum time in the queue. After it, the query is refused with 503.");
  config.bytes("query.answers_bytes_max", limits.answers_bytes_max, {kMiB, 1024 * kGiB},
               "Memory limit for all answers that clients have not read yet. Above it, answers of "
               "64 KiB and more are refused.");
  config.flag("query.skip_unknown_values", options.skip_unknown_values,
              "Lets an unknown tag value in a filter match nothing. Otherwise it fails the query. "
              "Also applies to last-point queries.");
  declare_promql(config, limits.promql);
  declare_fetch_limits(config, limits.fetch);
}

}  // namespace halite::app
