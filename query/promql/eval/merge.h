// What happens to rows that have equal labels after an operation.
#pragma once

#include "common/result.h"
#include "query/promql/eval/values.h"

namespace halite::query::promql {

[[nodiscard]] bool has_values(const Row& row);

// Makes one row of rows with equal labels, at the place of the first. Removes rows without a value.
// kInvalidArgument: two have a value at the same step ("vector cannot contain metrics with the same
// labelset").
[[nodiscard]] Result<void> merge_equal(Vector& vector);

// After a function over range vectors: rows with equal labels are an error, even if they have no
// step in common. Rows without a value do not count.
[[nodiscard]] Result<void> refuse_equal(const Vector& vector);

// Removes rows without a value.
void remove_empty(Vector& vector);

}  // namespace halite::query::promql
