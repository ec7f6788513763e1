// Computes the outputs of an ExpQuestion from the answer to its metrics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "query/expression/exp_question.h"
#include "query/expression/series.h"
#include "query/query_budget.h"

namespace halite::query {

// One output: a table with a row for each time and a column for each series.
struct ExpTable {
  std::string id;
  std::string alias;
  std::vector<SeriesMeaning> columns;
  std::vector<TimestampMs> times;
  std::vector<std::vector<double>> values;  // by column, then by time; NaN is possible
  // As in OpenTSDB, with its special cases for no row and one row.
  std::int64_t first_time = 0;
  std::int64_t last_time = 0;
};

struct ExpAnswer {
  ExpQuestion question;
  std::vector<ExpTable> outputs;
};

// kInvalidArgument: expressions that use themselves, nothing to join, a missing value without a
// fill policy, arithmetic with booleans. kTooLarge: more values than output_points_max. Also
// returns the budget's errors. Results count as the budget's memory until the end.
[[nodiscard]] Result<std::vector<ExpTable>> run_exp(const ExpQuestion& question,
                                                    const Answer& answer, QueryBudget& budget);

}  // namespace halite::query
