// Which times an expression reads.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "query/promql/tree.h"

namespace halite::query::promql {

// Of a value at time t: of which samples it is made, whatever the other times of the query are.
struct Reach {
  std::int64_t back_ms = 0;       // none is at t - back_ms or earlier, nor later than t
  std::set<std::string> metrics;  // to which the samples belong
  bool any_metric = false;        // they may belong to others, too
};

// None: a value, or an error, depends on samples later than its time, on those of one certain time,
// or on the other times of the query. The durations are resolved.
[[nodiscard]] std::optional<Reach> reach_of(const Expr& expr, std::int64_t lookback_ms);

}  // namespace halite::query::promql
