// Graphite's manner of asking: nested functions around sub-queries.
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
  std::string text;  // as behind m=
};

struct GexpCall {
  std::string function;                                    // one of gexp_functions()
  std::vector<std::variant<GexpMetric, GexpCall>> series;  // calls and sub-queries, in order
  std::vector<std::string> parameters;                     // the other arguments, in order
};

// Letters after the closing bracket mean nothing (as in OpenTSDB). kInternal (400; 500 with
// --opentsdb-conf): not such a text, or a function that is not known; kTooLarge: longer or deeper
// than the limits.
[[nodiscard]] Result<GexpCall> parse_gexp(std::string_view text, const ExpressionLimits& limits);

// Every sub-query of a call and of those in it, in order.
void collect_metrics(const GexpCall& call, std::vector<std::string>& metrics);

}  // namespace halite::query
