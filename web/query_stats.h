// The numbers of showStats and showSummary, under all of OpenTSDB's names.
#pragma once

#include <cstdint>
#include <string>

#include "query/answer.h"

namespace halite::web {

struct QueryStats {
  query::QueryCost cost;
  std::uint64_t emitted = 0;  // points answered
  std::uint64_t nans = 0;     // of them, those that are no number
};

// Fields of a JSON object, without braces. One pass reads, filters and aggregates, so its time
// stands under each name that OpenTSDB gives to a part of that; 0 is what does not exist here:
// scanners of HBase, names resolved on the way, merging of salts.
void append_query_stats(std::string& to, const QueryStats& stats);

// An object with what a query cost in our own words: chunks decoded, passed over, spans told by
// their totals; times in ms, by stage.
void append_query_cost(std::string& to, const query::QueryCost& cost);

}  // namespace halite::web
