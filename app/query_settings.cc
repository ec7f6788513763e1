// Settings of questions: what one may take, and what all may.
#include <limits>

#include "app/options.h"
#include "common/units.h"

namespace halite::app {
namespace {

constexpr SettingRange kAny = {0, std::numeric_limits<std::int64_t>::max()};
constexpr SettingRange kAtLeastOne = {1, std::numeric_limits<std::int64_t>::max()};

// OpenTSDB's own limits, by metric.
void declare_fetch_limits(Config& config, query::FetchLimitOptions& fetch) {
  config.count("query.fetch_points_max", fetch.points_max, kAny, "points",
               "Stored points one sub-query may fetch, in OpenTSDB's words. 0 = no such limit.");
  config.bytes("query.fetch_bytes_max", fetch.bytes_max, kAny,
               "The same as bytes of OpenTSDB's rows. 0 = no such limit.");
  config.flag("query.fetch_points_override", fetch.points_override,
              "A query with overrideDataPointLimit is free of the first.");
  config.flag("query.fetch_bytes_override", fetch.bytes_override,
              "A query with overrideByteLimit is free of the second.");
  config.count("query.fetch_free_rows", fetch.free_rows, kAny, "rows",
               "Rows (an hour of a series) that no such limit counts; OpenTSDB looks at its limits "
               "between two batches of rows.");
  config.text("query.fetch_overrides", fetch.overrides,
              "A JSON file with other limits for some metrics; empty = none.");
  config.duration_ms("query.fetch_overrides_interval_ms", fetch.overrides_interval_ms,
                     {1000, kDayMs}, "How often that file is read again.");
}

}  // namespace

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
                     "How long a query may take, waiting for its turn included.");
  config.bytes("query.regexp_bytes_max", limits.regexp_bytes_max, {1024, kGiB},
               "Memory for one regular expression.");
  config.count("query.sub_queries_max", limits.sub_queries_max, {1, 100'000}, "queries",
               "Sub-queries of one request.");
  config.count("query.expressions_max", limits.expressions_max, {1, 10'000}, "expressions",
               "Expressions of one request.");
  config.bytes("query.expression_bytes_max", limits.expression_bytes_max, {1, 64 * 1024},
               "Text of one expression.");
  config.count("query.expression_depth_max", limits.expression_depth_max, {1, 500}, "levels",
               "Nesting of one expression.");
  config.count("query.running_max", limits.running_max, {1, 100'000}, "queries",
               "Queries at work at once, small ones counted apart; others wait for their turn.");
  config.duration_ms("query.queue_ms", limits.queue_ms, {1, kDayMs},
                     "How long a query may wait for its turn; then it is refused with 503.");
  config.bytes(
      "query.answers_bytes_max", limits.answers_bytes_max, {kMiB, 1024 * kGiB},
      "Memory for all answers that clients have not read yet; further ones are refused, but "
      "for those below 64 KiB.");
  config.flag(
      "query.skip_unknown_values", options.skip_unknown_values,
      "An unknown tag value in a filter, or in one of several queries for last points, matches "
      "nothing instead of failing the query.");
  declare_fetch_limits(config, limits.fetch);
}

}  // namespace halite::app
