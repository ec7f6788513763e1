// histogram_quantile() and histogram_fraction() over classic histograms: series with a label `le`.
#pragma once

#include <span>
#include <string_view>

#include "query/promql/eval/annotations.h"
#include "query/promql/eval/values.h"

namespace halite::query::promql {

// `quantiles` has one value for each step. Positions are those of the arguments, for annotations.
[[nodiscard]] Vector histogram_quantile(const Vector& buckets, std::span<const double> quantiles,
                                        const Steps& steps, Position quantile_at,
                                        Position buckets_at, Annotations& annotations);

[[nodiscard]] Vector histogram_fraction(const Vector& buckets, std::span<const double> lower,
                                        std::span<const double> upper, const Steps& steps,
                                        Position buckets_at, Annotations& annotations);

}  // namespace halite::query::promql
