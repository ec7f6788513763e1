// Parses a request of /api/query/gexp into a query, and computes its answer.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/result.h"
#include "query/answer.h"
#include "query/gexp/parser.h"
#include "query/parse/parse_context.h"
#include "query/query_budget.h"

namespace halite::query {

struct GexpQuestion {
  std::vector<GexpCall> calls;                 // one for each exp=
  std::map<std::string, std::size_t> queries;  // index into question.queries by sub-query text
  Question question;
};

struct GexpLimits {
  bool shift = true;  // false: refuse shift and timeShift with a duration, as OpenTSDB 2.4 does
  std::size_t expressions_max = 256;
  ExpressionLimits expression;
};

// Parses start=..&end=..&exp=..&exp=.., and the flags of /api/query. kInternal where OpenTSDB
// answers 500.
[[nodiscard]] Result<GexpQuestion> parse_gexp_question(const Parameters& parameters,
                                                       const ParseContext& context,
                                                       const GexpLimits& limits);

// Takes the answer to `question.question` and returns one with the calls' output series. Also
// returns the budget's errors. Copies and results count as the budget's memory until the end.
[[nodiscard]] Result<Answer> run_gexp(const GexpQuestion& question, const Answer& answer,
                                      QueryBudget& budget);

}  // namespace halite::query
