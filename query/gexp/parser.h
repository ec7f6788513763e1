// Parses Graphite-style queries: nested functions around sub-queries.
//
//   scale(sum:1m-avg:sys.cpu{host=*},2)
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/result.h"
#include "query/expression/tree.h"

namespace halite::query {

struct GexpCall;

struct GexpMetric {
  std::string text;  // as after m=
};

struct GexpCall {
  std::string function;                                    // one of gexp_functions()
  std::vector<std::variant<GexpMetric, GexpCall>> series;  // calls and sub-queries, in order
  std::vector<std::string> parameters;                     // the other arguments, in order
};

// As in OpenTSDB, letters after the closing bracket are ignored. kInternal (400; 500 with
// --opentsdb-conf): a syntax error or an unknown function. kTooLarge: longer or deeper than the
// limits.
[[nodiscard]] Result<GexpCall> parse_gexp(std::string_view text, const ExpressionLimits& limits);

// Collects the sub-queries of a call and of its nested calls, in order.
void collect_metrics(const GexpCall& call, std::vector<std::string>& metrics);

}  // namespace halite::query
