// In which order expressions are computed: those that others use first.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/result.h"
#include "query/expression/exp_question.h"

namespace halite::query {

// Indexes into `expressions`. kInvalidArgument: one uses itself, at once or by others.
[[nodiscard]] Result<std::vector<std::size_t>> order_of(std::span<const ExpExpression> expressions);

}  // namespace halite::query
