// The limits on queries: on one query, on all together, and on the data that a query fetches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace halite::query {

// The limits of OpenTSDB's tsd.query.limits.* settings; scan/fetch_limits.h applies them.
struct FetchLimitOptions {
  std::uint64_t points_max = 0;  // query.fetch_points_max; 0 = no limit
  std::uint64_t bytes_max = 0;   // query.fetch_bytes_max; 0 = no limit
  // Whether a query may lift its limit with overrideDataPointLimit or overrideByteLimit.
  bool points_override = false;  // query.fetch_points_override
  bool bytes_override = false;   // query.fetch_bytes_override
  // query.fetch_free_rows: rows (an hour of a series) that a query may always read. OpenTSDB checks
  // the limits between two batches of its scanner, so it always reads one batch.
  std::uint64_t free_rows = 0;
  // query.fetch_overrides: a JSON file with other limits for metrics that match a regular
  // expression. The first match applies. Empty: none.
  //  [{"regex":"^sys\\.","byteLimit":1048576,"dataPointsLimit":500},..]
  std::string overrides;
  std::int64_t overrides_interval_ms = 60'000;  // query.fetch_overrides_interval_ms: between reads
};

// Limits and defaults of PromQL; query/promql/parse.h explains the first three.
struct PromqlOptions {
  std::size_t bytes_max = 1 << 16;        // query.promql_bytes_max: of an expression
  std::size_t depth_max = 200;            // query.promql_depth_max: nesting
  bool experimental = false;              // query.promql_experimental
  std::int64_t lookback_ms = 300'000;     // query.promql_lookback_ms: how old a sample may be
  std::int64_t default_step_ms = 60'000;  // query.promql_step_ms: of subqueries without a step
  std::uint64_t cache_bytes_max = 64ull << 20;  // query.promql_cache_bytes_max; 0: no cache
};

struct QueryLimits {
  std::uint64_t series_max = 1'000'000;          // query.series_max
  std::uint64_t points_max = 1'000'000'000;      // query.points_max: raw points read
  std::uint64_t bytes_max = 1ull << 30;          // query.bytes_max: memory for one query's work
  std::uint64_t output_points_max = 10'000'000;  // query.output_points_max
  std::int64_t timeout_ms = 60'000;              // query.timeout_ms, from when it is received
  std::size_t regexp_bytes_max = 1 << 20;        // query.regexp_bytes_max
  std::size_t running_max = 64;    // query.running_max; small queries count separately
  std::int64_t queue_ms = 10'000;  // query.queue_ms: the longest wait for a turn
  // query.answers_bytes_max: memory for all answers that clients have not read yet
  std::uint64_t answers_bytes_max = 1ull << 30;
  std::size_t sub_queries_max = 256;        // query.sub_queries_max
  std::size_t expressions_max = 256;        // query.expressions_max: in one request
  std::size_t expression_bytes_max = 4096;  // query.expression_bytes_max
  std::size_t expression_depth_max = 64;    // query.expression_depth_max: nesting

  PromqlOptions promql = {};
  FetchLimitOptions fetch = {};  // OpenTSDB's limits; off by default

  // A query reads time in windows of about this much memory each; not a setting. A window is never
  // shorter than an hour.
  std::uint64_t window_bytes = 96ull << 20;
};

}  // namespace halite::query
