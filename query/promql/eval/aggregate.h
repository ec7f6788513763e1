// Aggregations: sum by (a) (v), topk(3, v) and others. docs/query/promql.md
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "common/result.h"
#include "common/threads/work_budget.h"
#include "query/promql/eval/annotations.h"
#include "query/promql/eval/values.h"

namespace halite::query::promql {

struct AggregateParameter {
  std::span<const double> numbers = {};  // of topk, quantile and others: one for each step
  std::string_view label = {};           // of count_values
  Position at = {};
  // Of count_values, which can make a row of each value: rows × steps of its result.
  std::size_t values_max = 50'000'000;
  WorkBudget* budget = nullptr;  // count_values needs it
};

// `instant`: the query has one time only, so that topk() and bottomk() order their rows.
// kInvalidArgument: a parameter is wrong, with Prometheus' message. kTooLarge: values_max.
[[nodiscard]] Result<Vector> aggregate(const Aggregation& aggregation, Vector input,
                                       const AggregateParameter& parameter, const Steps& steps,
                                       bool instant, TextArena& texts, Annotations& annotations);

// quantile() and quantile_over_time() of values in any order, which it moves. NaN if there are
// none.
[[nodiscard]] double quantile_of(double q, std::span<double> values);

}  // namespace halite::query::promql
