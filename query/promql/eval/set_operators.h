// and, or, unless.
#pragma once

#include "common/result.h"
#include "query/promql/eval/values.h"
#include "query/promql/tree.h"

namespace halite::query::promql {

[[nodiscard]] Result<Vector> evaluate_set(const Binary& binary, Vector left, Vector right,
                                          const Steps& steps);

}  // namespace halite::query::promql
