// Aggregations: sum by (a) (v), topk(3, v) and others. docs/promql.md
#pragma once

#include <span>
#include <string>

#include "common/result.h"
#include "query/promql/eval/annotations.h"
#include "query/promql/eval/values.h"

namespace halite::query::promql {

struct AggregateParameter {
  std::span<const double> numbers;  // of topk, quantile and others: one for each step
  std::string_view label;           // of count_values
  Position at;
};

// `instant`: the query has one time only, so that topk() and bottomk() order their rows.
// kInvalidArgument: a parameter is wrong, with Prometheus' message.
[[nodiscard]] Result<Vector> aggregate(const Aggregation& aggregation, Vector input,
                                       const AggregateParameter& parameter, const Steps& steps,
                                       bool instant, TextArena& texts, Annotations& annotations);

// quantile() and quantile_over_time() of values in any order, which it sorts. NaN if there are
// none.
[[nodiscard]] double quantile_of(double q, std::span<double> values);

}  // namespace halite::query::promql
