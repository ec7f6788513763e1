// Aggregations that keep some rows of each group as they are: topk, limitk and others.
#pragma once

#include <cstddef>
#include <span>

#include "query/promql/eval/row_groups.h"
#include "query/promql/eval/values.h"
#include "query/promql/tree.h"

namespace halite::query::promql {

// Of kTopk, kBottomk, kLimitk: `counts` has one for each step, from 0. `ordered`: there is one step
// only; kTopk and kBottomk put the best row of each group first. Otherwise rows stay in order.
[[nodiscard]] Vector select_some(AggregateOp op, Vector input, RowGroups& groups,
                                 std::span<const std::size_t> counts, bool ordered);

// limit_ratio: `ratios` are from -1 to 1. The same ratio keeps the same rows, 0.3 and -0.7 share
// none and keep all together.
[[nodiscard]] Vector select_ratio(Vector input, std::span<const double> ratios);

}  // namespace halite::query::promql
