// Orders expressions so that each comes after those that it uses.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/result.h"
#include "query/expression/exp_question.h"

namespace halite::query {

// Returns indexes into `expressions`. kInvalidArgument: one uses itself, directly or indirectly.
[[nodiscard]] Result<std::vector<std::size_t>> order_of(std::span<const ExpExpression> expressions);

}  // namespace halite::query
