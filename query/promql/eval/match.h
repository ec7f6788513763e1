// Arithmetic and comparisons between two instant vectors.
#pragma once

#include "common/result.h"
#include "common/threads/work_budget.h"
#include "query/promql/eval/annotations.h"
#include "query/promql/eval/values.h"
#include "query/promql/tree.h"

namespace halite::query::promql {

// kInvalidArgument: elements do not match one to one, or as group_left and group_right say, at some
// step. Errors of the budget: group_left and group_right may make more pairs than both sides have
// rows.
[[nodiscard]] Result<Vector> match_vectors(const Binary& binary, Vector left, Vector right,
                                           const Steps& steps, Position at, TextArena& texts,
                                           Annotations& annotations, WorkBudget& budget);

}  // namespace halite::query::promql
