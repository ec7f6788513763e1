// Computes the outputs of an ExpQuestion from the answer to its metrics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "query/expression/exp_question.h"
#include "query/expression/series.h"
#include "query/query_budget.h"

namespace halite::query {

// One output: a table with a row a time and a column a series.
struct ExpTable {
  std::string id;
  std::string alias;
  std::vector<SeriesMeaning> columns;
  std::vector<TimestampMs> times;
  std::vector<std::vector<double>> values;  // a column each, as long as `times`; NaN is possible
  // As OpenTSDB tells them, with its oddities for no row and one row.
  std::int64_t first_time = 0;
  std::int64_t last_time = 0;
};

struct ExpAnswer {
  ExpQuestion question;
  std::vector<ExpTable> outputs;
};

// kInvalidArgument: expressions that use themselves, nothing to join, a value that is missing and
// has no fill policy, arithmetic with booleans. kTooLarge: more values than output_points_max. The
// watch's errors; what is computed counts as its memory until the end.
[[nodiscard]] Result<std::vector<ExpTable>> run_exp(const ExpQuestion& question,
                                                    const Answer& answer, QueryBudget& budget);

}  // namespace halite::query
