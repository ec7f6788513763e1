// histogram_quantile() and histogram_fraction() over classic histograms: series with a label `le`.
//
// The name of the metric is removed after buckets are grouped. Rows with equal labels are not
// merged yet: see merge.h.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "common/result.h"
#include "query/promql/eval/annotations.h"
#include "query/promql/eval/values.h"

namespace halite::query::promql {

// `quantiles` has one value for each step. Positions are those of the arguments, for annotations.
[[nodiscard]] Vector histogram_quantile(const Vector& buckets, std::span<const double> quantiles,
                                        const Steps& steps, Position quantile_at,
                                        Position buckets_at, Annotations& annotations);

struct QuantileArgument {
  std::span<const double> values;  // one for each step
  Position at;
};

// histogram_quantiles(): those of all arguments. Rows have `label` with the quantile as its value.
// kTooLarge: quantiles that change with time make a column each, and these have more than
// `values_max` values.
[[nodiscard]] Result<Vector> histogram_quantiles(const Vector& buckets, std::string_view label,
                                                 std::span<const QuantileArgument> quantiles,
                                                 const Steps& steps, Position buckets_at,
                                                 std::size_t values_max, TextArena& texts,
                                                 Annotations& annotations);

[[nodiscard]] Vector histogram_fraction(const Vector& buckets, std::span<const double> lower,
                                        std::span<const double> upper, const Steps& steps,
                                        Position buckets_at, Annotations& annotations);

}  // namespace halite::query::promql
