// Computes durations that are expressions.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "query/promql/number.h"
#include "query/promql/operator_walk.h"
#include "query/promql/parse.h"

namespace halite::query::promql {
namespace {

double seconds_of(std::int64_t ms) {
  return static_cast<double>(ms / 1000) + static_cast<double>(ms % 1000) / 1000;
}

std::unexpected<Error> fail_at(Position at, std::string_view message) {
  return fail(Errc::kInvalidArgument, fmt::format("{}:{}: {}", at.begin, at.end, message));
}

// NaN if one is.
double min_of(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return std::min(a, b);
}
double max_of(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return std::max(a, b);
}

class Resolver {
 public:
  Resolver(std::int64_t step_ms, std::int64_t range_ms)
      : step_(seconds_of(step_ms)), range_(seconds_of(range_ms)) {}

  Result<void> resolve(Expr& expr) {
    OperatorWalk<Expr> walk(expr);
    while (const auto step = walk.next()) {
      if (step->visit != Visit::kOperand) continue;
      TRY_VOID(std::visit([this](auto& node) { return resolve_node(node); }, step->expr->node));
    }
    return {};
  }

 private:
  enum class Sign : std::uint8_t { kAny, kPositive };

  Result<void> resolve_node(NumberLiteral&) { return {}; }
  Result<void> resolve_node(StringLiteral&) { return {}; }
  Result<void> resolve_node(VectorSelector& node) { return set(node.time.offset, Sign::kAny); }
  Result<void> resolve_node(MatrixSelector& node) {
    TRY_VOID(set(node.range, Sign::kPositive));
    return resolve_node(node.selector);
  }
  Result<void> resolve_node(Subquery& node) {
    TRY_VOID(set(node.time.offset, Sign::kAny));
    TRY_VOID(set(node.step, Sign::kPositive));
    TRY_VOID(set(node.range, Sign::kPositive));
    return resolve(*node.expr);
  }
  Result<void> resolve_node(Call& node) {
    for (const ExprPtr& argument : node.arguments) TRY_VOID(resolve(*argument));
    return {};
  }
  Result<void> resolve_node(Aggregation& node) {
    TRY_VOID(resolve(*node.expr));
    if (node.parameter == nullptr) return {};
    return resolve(*node.parameter);
  }
  Result<void> resolve_node(Binary&) { return {}; }  // its operands are
  Result<void> resolve_node(Unary& node) { return resolve(*node.expr); }
  Result<void> resolve_node(Parentheses& node) { return resolve(*node.expr); }

  Result<void> set(Duration& duration, Sign sign) {
    if (duration.expr == nullptr) return {};
    const Position at = duration.expr->at;
    TRY(const double seconds, value(*duration.expr));
    if (std::isnan(seconds) || std::isinf(seconds)) {
      return fail_at(at, "duration is NaN or infinite");
    }
    if (sign == Sign::kPositive && seconds <= 0) {
      return fail_at(at, "duration must be greater than 0");
    }
    if (std::abs(seconds) > kDurationSecondsMax) return fail_at(at, "duration is out of range");
    // As in the parser, anything above zero is at least a millisecond.
    const auto ms = static_cast<std::int64_t>(std::trunc(seconds * 1000));
    duration.ms = sign == Sign::kPositive ? std::max<std::int64_t>(1, ms) : ms;
    return {};
  }

  [[nodiscard]] Result<double> value(const DurationExpr& expr) const {
    double left = 0;
    double right = 0;
    if (expr.left) {
      TRY(left, value(*expr.left));
    }
    if (expr.right) {
      TRY(right, value(*expr.right));
    }
    switch (expr.op) {
      case DurationOp::kNumber:
        return expr.seconds;
      case DurationOp::kStep:
        return step_;
      case DurationOp::kRange:
        return range_;
      case DurationOp::kAdd:
        return left + right;
      case DurationOp::kSubtract:
        return left - right;
      case DurationOp::kMultiply:
        return left * right;
      case DurationOp::kDivide:
        if (right == 0) return fail_at(expr.at, "division by zero");
        return left / right;
      case DurationOp::kModulo:
        if (right == 0) return fail_at(expr.at, "modulo by zero");
        return std::fmod(left, right);
      case DurationOp::kPower:
        return std::pow(left, right);
      case DurationOp::kNegate:
        return -left;
      case DurationOp::kMin:
        return min_of(left, right);
      case DurationOp::kMax:
        return max_of(left, right);
      case DurationOp::kPlus:
      case DurationOp::kParentheses:
        break;
    }
    return left;
  }

  double step_;
  double range_;
};

}  // namespace

Result<void> resolve_durations(Expr& expr, std::int64_t step_ms, std::int64_t range_ms) {
  return Resolver(step_ms, range_ms).resolve(expr);
}

}  // namespace halite::query::promql
