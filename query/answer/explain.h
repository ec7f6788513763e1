// The expected cost of a query, computed before it runs: /api/query/explain.
//
// Reads only what the store keeps about its data. The number of matching series is exact, unless
// other servers write the tables. The number of points is the store's estimate. The model in
// explain.cc derives the rest; docs/query/explain.md describes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/threads/task.h"
#include "query/limits.h"
#include "query/plan/plan.h"
#include "query/question.h"

namespace halite::query {

// A view of the metric. The estimate is that of reading points, also if a view would answer.
struct ExplainedView {
  std::string name;
  std::string why_not;       // why it would not answer; empty: it would
  bool approximate = false;  // by sketches
};

struct ExplainedQuery {
  std::uint64_t series = 0;                      // selected
  std::uint32_t shards = 0;                      // scanned in parallel
  std::uint64_t rows = 0;                        // to be read, at most
  std::uint64_t points = 0;                      // to be read
  std::uint64_t stored_bytes = 0;                // to be read
  std::uint64_t groups = 0;                      // output series, at most
  std::uint64_t output_points = 0;               // in the answer
  std::uint64_t memory_bytes = 0;                // at the peak
  double cpu_ms = 0;                             // of one core
  std::vector<storage::PlannedScan> scans = {};  // if rows are on other servers
  std::vector<ExplainedView> views = {};
};

// A limit and the amount that the query is expected to use.
struct ExplainedLimit {
  std::string_view name;  // the setting
  std::uint64_t limit = 0;
  std::uint64_t expected = 0;
  [[nodiscard]] bool exceeded() const { return expected > limit; }
};

struct Explanation {
  Question question;
  std::vector<ExplainedQuery> queries;  // as in the query
  ExplainedQuery total;                // memory: all answers plus the work of the largest sub-query
  double estimated_ms = 0;             // elapsed time on an idle server
  std::vector<ExplainedLimit> limits;  // all limits, reached or not
};

// Adds up the sub-queries and compares the total with the limits.
void finish_explanation(const QueryLimits& limits, Explanation& explanation);

// Explains one sub-query, from the store's estimate and the number of groups.
[[nodiscard]] ExplainedQuery explain_query(const SubPlan& plan,
                                           const storage::ReadEstimate& estimate,
                                           std::uint64_t groups, const QueryLimits& limits);

}  // namespace halite::query
