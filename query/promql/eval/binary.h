// Binary operators on scalars and instant vectors. docs/query/promql.md
#pragma once

#include "common/result.h"
#include "common/threads/work_budget.h"
#include "query/promql/eval/annotations.h"
#include "query/promql/eval/values.h"

namespace halite::query::promql {

// Counts in the budget only what it needs beside both sides and the result, and releases it. Each
// side is a Scalar or a Vector. kInvalidArgument: elements do not match one to one, with
// Prometheus' message. Removes the name where the operator does; rows are merged (merge.h).
[[nodiscard]] Result<Value> evaluate_binary(const Binary& binary, Value left, Value right,
                                            const Steps& steps, Position at, TextArena& texts,
                                            Annotations& annotations, WorkBudget& budget);

}  // namespace halite::query::promql
