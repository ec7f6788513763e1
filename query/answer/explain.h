// What a question would cost, before it is run: /api/query/explain.
//
// Nothing is read but what the store keeps about its data: which series match is exact (unless
// others write the tables, too), how many points they have is the store's estimate, the rest
// follows from these by the model in explain.cc, which docs/query/explain.md puts in words.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/task.h"
#include "query/limits.h"
#include "query/plan/plan.h"
#include "query/question.h"

namespace halite::query {

struct ExplainedQuery {
  std::uint64_t series = 0;                      // selected
  std::uint32_t shards = 0;                      // scanned side by side
  std::uint64_t rows = 0;                        // to be read, at most
  std::uint64_t points = 0;                      // to be read
  std::uint64_t stored_bytes = 0;                // to be read
  std::uint64_t groups = 0;                      // series of the answer, at most
  std::uint64_t output_points = 0;               // of the answer
  std::uint64_t memory_bytes = 0;                // at the peak
  double cpu_ms = 0;                             // of one processor
  std::vector<storage::PlannedScan> scans = {};  // where rows are elsewhere
};

// A limit and what the question is expected to need of it.
struct ExplainedLimit {
  std::string_view name;  // the setting
  std::uint64_t limit = 0;
  std::uint64_t expected = 0;
  [[nodiscard]] bool exceeded() const { return expected > limit; }
};

struct Explanation {
  Question question;
  std::vector<ExplainedQuery> queries;  // as in the question
  ExplainedQuery total;                 // memory: the answers of all and the work of the largest
  double estimated_ms = 0;              // on the clock, on a server with nothing else to do
  std::vector<ExplainedLimit> limits;   // every one, met or not
};

// Adds up, and holds against the limits.
void finish_explanation(const QueryLimits& limits, Explanation& explanation);

// One sub-query, from what the store estimates and how many groups its series make.
[[nodiscard]] ExplainedQuery explain_query(const SubPlan& plan,
                                           const storage::ReadEstimate& estimate,
                                           std::uint64_t groups, const QueryLimits& limits);

}  // namespace halite::query
