// Random expressions of PromQL as text: of the language that needs no experimental settings, right
// in their types, about the series of random_series().
#pragma once

#include <string>
#include <vector>

#include "common/clock.h"
#include "tests/support/dice.h"
#include "tests/unit/query/promql/reference.h"

namespace halite::query::promql {

// A few dozen series with few labels, over half an hour. Some have gaps, resets, NaN, infinities
// and staleness markers. Sums of their values are exact.
[[nodiscard]] std::vector<ReferenceSeries> random_series(test::Dice& dice, TimestampMs begin);

// A scalar or an instant vector; seldom, a string or a range vector if `any_type`.
[[nodiscard]] std::string random_expression(test::Dice& dice, TimestampMs begin, bool any_type);

}  // namespace halite::query::promql
