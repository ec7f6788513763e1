// The numbers of showStats and showSummary, under OpenTSDB's names.
#pragma once

#include <cstdint>
#include <string>

#include "query/answer.h"

namespace halite::web {

struct QueryStats {
  query::QueryCost cost;
  std::uint64_t emitted = 0;  // points in the answer
  std::uint64_t nans = 0;     // NaN values among them
};

// Fields of a JSON object, without braces. One pass reads, filters and aggregates, so its time
// appears under OpenTSDB's name for each part. What does not exist here is 0: HBase scanners, name
// resolution on the way, merging of salts.
void append_query_stats(std::string& to, const QueryStats& stats);

// An object with the cost of a query in Halite's terms: chunks decoded and skipped, summaries used;
// times in ms by stage.
void append_query_cost(std::string& to, const query::QueryCost& cost);

}  // namespace halite::web
