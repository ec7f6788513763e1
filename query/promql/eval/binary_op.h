// The arithmetic and the comparisons of binary operators.
#pragma once

#include <cmath>
#include <functional>
#include <type_traits>

#include "common/check.h"
#include "query/promql/eval/annotations.h"
#include "query/promql/eval/values.h"
#include "query/promql/tree.h"

namespace halite::query::promql {

// Calls use(f), where f(left, right) is the number of an arithmetic operator or the truth of a
// comparison. Not for other operators.
template <class Use>
void with_operator(BinaryOp op, Use use) {
  switch (op) {
    case BinaryOp::kAdd:
      return use(std::plus<double>());
    case BinaryOp::kSubtract:
      return use(std::minus<double>());
    case BinaryOp::kMultiply:
      return use(std::multiplies<double>());
    case BinaryOp::kDivide:
      return use(std::divides<double>());
    case BinaryOp::kModulo:
      return use([](double left, double right) { return std::fmod(left, right); });
    case BinaryOp::kPower:
      return use([](double left, double right) { return std::pow(left, right); });
    case BinaryOp::kAtan2:
      return use([](double left, double right) { return std::atan2(left, right); });
    case BinaryOp::kEqual:
      return use(std::equal_to<double>());
    case BinaryOp::kNotEqual:
      return use(std::not_equal_to<double>());
    case BinaryOp::kLess:
      return use(std::less<double>());
    case BinaryOp::kLessEqual:
      return use(std::less_equal<double>());
    case BinaryOp::kGreater:
      return use(std::greater<double>());
    case BinaryOp::kGreaterEqual:
      return use(std::greater_equal<double>());
    default:
      HALITE_CHECK(false, "an operator of numbers");
  }
}

// Of an element of a vector. `kept` is what a comparison without bool keeps.
template <class Function>
[[nodiscard]] double element(Function function, bool returns_bool, double left, double right,
                             double kept) {
  if constexpr (std::is_same_v<decltype(function(left, right)), bool>) {
    const bool holds = function(left, right);
    if (returns_bool) return holds ? 1 : 0;
    return holds ? kept : kAbsent;
  } else {
    return function(left, right);
  }
}

[[nodiscard]] constexpr bool is_arithmetic(BinaryOp op) { return op <= BinaryOp::kAtan2; }
[[nodiscard]] constexpr bool is_trim(BinaryOp op) {
  return op == BinaryOp::kTrimUpper || op == BinaryOp::kTrimLower;
}
[[nodiscard]] constexpr bool drops_name(const Binary& binary) {
  return is_arithmetic(binary.op) || binary.returns_bool;
}

// Says that </ and >/ have no result of numbers.
void inform_no_histograms(BinaryOp op, Position at, Annotations& annotations);

}  // namespace halite::query::promql
