// The rules of PromQL that do not depend on its grammar.
#pragma once

#include <string_view>

#include "common/result.h"
#include "query/promql/tree.h"

namespace halite::query::promql {

// Checks types and numbers of arguments, and completes how binary operators match. `text` is what
// was parsed. kInvalidArgument: "1:5: parse error: ...", the first error in the order of
// Prometheus.
[[nodiscard]] Result<void> check_types(Expr& expr, std::string_view text);

}  // namespace halite::query::promql
