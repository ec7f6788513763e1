#include "query/answer/explain.h"

#include <algorithm>
#include <thread>

#include "query/operators/columns.h"

namespace halite::query {
namespace {

// The constants of the model. docs/internals/lab-log.md has their measurements.
constexpr double kCpuNsAPoint = 400;     // reading and decoding a cell, and the operators
constexpr double kCpuNsASeries = 5'000;  // lookup, state, place in a group
constexpr double kCpuNsAnOutput = 300;   // merging and output
constexpr std::uint64_t kSeriesBytes = 1024;

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0 : (a + b - 1) / b; }

// The points of one series that reach its group: all, or at most one for each bucket.
std::uint64_t points_a_series(const SubPlan& plan, std::uint64_t stored) {
  if (!plan.downsample) return stored;
  const DownsamplePlan& downsample = *plan.downsample;
  if (downsample.fill != FillPolicy::kNone) return downsample.filled_count;
  if (downsample.kind == BucketKind::kAll) return std::min<std::uint64_t>(stored, 1);
  const auto length = static_cast<std::uint64_t>(plan.scan.end - plan.scan.begin);
  return std::min(stored, divide_up(length, static_cast<std::uint64_t>(downsample.interval_ms)));
}

}  // namespace

ExplainedQuery explain_query(const SubPlan& plan, const storage::ReadEstimate& estimate,
                             std::uint64_t groups, const QueryLimits& limits) {
  ExplainedQuery query;
  query.series = estimate.series;
  query.rows = estimate.rows;
  query.points = estimate.points;
  query.stored_bytes = estimate.bytes;
  query.scans = estimate.scans;
  query.groups = groups;
  const std::uint64_t each =
      points_a_series(plan, divide_up(estimate.points, std::max<std::uint64_t>(1, query.series)));
  // Assumes that the series of a group have points at equal times.
  query.output_points = groups * each;
  const bool filled = plan.downsample && plan.downsample->fill != FillPolicy::kNone;
  const std::uint64_t held = query.series * each * PointColumns::kBytesPerPoint;
  // Larger sub-queries are read in windows, except with a fill policy (docs/decisions/0006).
  const std::uint64_t window = std::min(limits.window_bytes, limits.bytes_max / 4);
  query.memory_bytes = query.series * kSeriesBytes + (filled ? held : std::min(held, window)) +
                       query.output_points * PointColumns::kBytesPerPoint;
  query.cpu_ms = (static_cast<double>(query.points) * kCpuNsAPoint +
                  static_cast<double>(query.series) * kCpuNsASeries +
                  static_cast<double>(query.output_points) * kCpuNsAnOutput) /
                 1e6;
  return query;
}

void finish_explanation(const QueryLimits& limits, Explanation& explanation) {
  ExplainedQuery& total = explanation.total;
  total = {};
  std::uint64_t work = 0;  // of the largest sub-query
  const double processors = std::max(1U, std::thread::hardware_concurrency());
  explanation.estimated_ms = 0;
  for (const ExplainedQuery& query : explanation.queries) {
    total.series += query.series;
    total.shards = std::max(total.shards, query.shards);
    total.rows += query.rows;
    total.points += query.points;
    total.stored_bytes += query.stored_bytes;
    total.groups += query.groups;
    total.output_points += query.output_points;
    total.cpu_ms += query.cpu_ms;
    const std::uint64_t answer = query.output_points * PointColumns::kBytesPerPoint;
    total.memory_bytes += answer;
    work = std::max(work, query.memory_bytes - answer);
    const double side_by_side = std::min(processors, std::max(1.0, double(query.shards)));
    explanation.estimated_ms += query.cpu_ms / side_by_side;
  }
  total.memory_bytes += work;
  explanation.limits = {
      {"query.series_max", limits.series_max, total.series},
      {"query.points_max", limits.points_max, total.points},
      {"query.bytes_max", limits.bytes_max, total.memory_bytes},
      {"query.output_points_max", limits.output_points_max, total.output_points},
      {"query.timeout_ms", static_cast<std::uint64_t>(limits.timeout_ms),
       static_cast<std::uint64_t>(explanation.estimated_ms)},
      {"query.sub_queries_max", limits.sub_queries_max, explanation.queries.size()},
  };
}

}  // namespace halite::query
