// Evaluates an expression for given numbers, as JEXL 2.1 does in its lenient mode:
//   - a division or remainder by zero is 0
//   - in comparisons NaN is less than every number and equal to itself; as a condition it is false
//   - arithmetic with booleans is an error
//   - the result is a double or a boolean (1 or 0); anything else is an error
#pragma once

#include <span>
#include <vector>

#include "common/result.h"
#include "query/expression/tree.h"

namespace halite::query {

// One coroutine at a time. The expression outlives it.
class ExpressionRun {
 public:
  explicit ExpressionRun(const Expression& expression) : expression_(expression) {}

  // `values` are in the order of Expression::variables.
  [[nodiscard]] Result<double> operator()(std::span<const double> values);

 private:
  const Expression& expression_;
  std::vector<ExpressionValue> variables_;
};

}  // namespace halite::query
