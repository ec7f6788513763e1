// Aggregations that make one row of a group: sum, avg, quantile and others.
#pragma once

#include <cstddef>
#include <span>

#include "query/promql/eval/row_groups.h"
#include "query/promql/eval/values.h"
#include "query/promql/tree.h"

namespace halite::query::promql {

// Rows in the order in which groups first come. `quantiles`: of kQuantile, one for each step.
// Not for kCountValues and what keeps rows (select.h).
[[nodiscard]] Vector reduce(AggregateOp op, const Vector& input, RowGroups& groups,
                            std::span<const double> quantiles, std::size_t steps);

}  // namespace halite::query::promql
