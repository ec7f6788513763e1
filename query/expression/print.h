// Prints a tree as JEXL does, for its messages.
#pragma once

#include <cstddef>
#include <string>

#include "query/expression/tree.h"

namespace halite::query {

struct PrintedExpression {
  std::string text;
  std::size_t begin = 0;  // of the requested node
  std::size_t end = 0;    // past its last character
};

[[nodiscard]] PrintedExpression print_expression(const Expression& expression,
                                                 const ExpressionNode* mark = nullptr);

}  // namespace halite::query
