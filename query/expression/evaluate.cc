#include "query/expression/evaluate.h"

#include <cmath>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "query/expression/print.h"

namespace halite::query {
namespace {

using Value = ExpressionValue;

bool is_floating(const Value& value) {
  return std::holds_alternative<double>(value) || std::holds_alternative<RealLiteral>(value);
}
bool is_boolean(const Value& value) { return std::holds_alternative<bool>(value); }

// For values other than booleans; null is 0.
double to_double(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* real = std::get_if<RealLiteral>(&value)) return real->value;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return 0;
}

std::int64_t to_integer(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  return 0;
}

bool to_boolean(const Value& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean;
  const double number = to_double(value);
  return !std::isnan(number) && number != 0;
}

// As Java's cast from double to long.
std::int64_t to_long(const Value& value) {
  if (!is_floating(value)) return to_integer(value);
  const double number = to_double(value);
  if (std::isnan(number)) return 0;
  if (number >= 0x1p63) return INT64_MAX;
  if (number < -0x1p63) return INT64_MIN;
  return static_cast<std::int64_t>(number);
}

int compare(double left, double right) {
  if (std::isnan(left)) return std::isnan(right) ? 0 : -1;
  if (std::isnan(right)) return 1;
  return left < right ? -1 : left > right ? 1 : 0;
}

std::string_view type_name(const Value& value) {
  if (std::holds_alternative<RealLiteral>(value)) return "java.lang.Float";
  if (std::holds_alternative<std::int64_t>(value)) return "java.lang.Long";
  return "null";
}

class Evaluator {
 public:
  Evaluator(const Expression& expression, std::vector<Value>& variables)
      : expression_(expression), variables_(variables) {}

  Result<Value> value(const ExpressionNode& node) {
    switch (node.op) {
      case ExpressionOp::kLiteral:
        return node.value;
      case ExpressionOp::kVariable:
        return variables_[node.variable];
      case ExpressionOp::kGroup:
        return value(*node.children[0]);
      case ExpressionOp::kAssign: {
        TRY(variables_[node.variable], value(*node.children[0]));
        return variables_[node.variable];
      }
      case ExpressionOp::kScript:
        return last(node);
      case ExpressionOp::kNegate:
      case ExpressionOp::kNot:
      case ExpressionOp::kBitNot:
        return unary(node);
      case ExpressionOp::kAnd:
      case ExpressionOp::kOr:
      case ExpressionOp::kTernary:
      case ExpressionOp::kElvis:
        return condition(node);
      default:
        return binary(node);
    }
  }

 private:
  [[nodiscard]] std::unexpected<Error> fault(const ExpressionNode& node,
                                             std::string_view what) const {
    const PrintedExpression printed = print_expression(expression_, &node);
    return fail(Errc::kInvalidArgument,
                fmt::format("net.opentsdb.query.expression.ExpressionIterator.<init>@148![{},{}]: "
                            "'{}' {} error",
                            printed.begin, printed.end, printed.text, what));
  }

  Result<Value> last(const ExpressionNode& node) {
    Value result;
    for (const auto& child : node.children) {
      TRY(result, value(*child));
    }
    return result;
  }

  Result<Value> unary(const ExpressionNode& node) {
    TRY(const Value child, value(*node.children[0]));
    if (node.op == ExpressionOp::kNot) return Value(!to_boolean(child));
    if (is_boolean(child)) return fault(*node.children[0], "arithmetic");
    if (node.op == ExpressionOp::kBitNot) return Value(~to_long(child));
    if (is_floating(child)) return Value(-to_double(child));
    return Value(static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(to_integer(child))));
  }

  Result<Value> condition(const ExpressionNode& node) {
    TRY(Value left, value(*node.children[0]));
    const bool yes = to_boolean(left);
    switch (node.op) {
      case ExpressionOp::kTernary:
        return value(*node.children[yes ? 1 : 2]);
      case ExpressionOp::kElvis:
        if (yes) return left;
        return value(*node.children[1]);
      default:
        break;
    }
    if (yes == (node.op == ExpressionOp::kOr)) return Value(yes);
    TRY(const Value right, value(*node.children[1]));
    return Value(to_boolean(right));
  }

  Result<Value> binary(const ExpressionNode& node) {
    TRY(const Value left, value(*node.children[0]));
    TRY(const Value right, value(*node.children[1]));
    switch (node.op) {
      case ExpressionOp::kBitAnd:
        return Value(to_long(left) & to_long(right));
      case ExpressionOp::kBitOr:
        return Value(to_long(left) | to_long(right));
      case ExpressionOp::kBitXor:
        return Value(to_long(left) ^ to_long(right));
      case ExpressionOp::kEqual:
      case ExpressionOp::kNotEqual:
      case ExpressionOp::kLess:
      case ExpressionOp::kLessEqual:
      case ExpressionOp::kGreater:
      case ExpressionOp::kGreaterEqual:
        return comparison(node, left, right);
      default:
        return arithmetic(node, left, right);
    }
  }

  Result<Value> comparison(const ExpressionNode& node, const Value& left, const Value& right) {
    const bool equality = node.op == ExpressionOp::kEqual || node.op == ExpressionOp::kNotEqual;
    int order = 0;
    if (equality && is_boolean(left) && is_boolean(right)) {
      order = std::get<bool>(left) == std::get<bool>(right) ? 0 : 1;
    } else if (equality &&
               std::holds_alternative<Null>(left) != std::holds_alternative<Null>(right)) {
      order = 1;
    } else if (is_boolean(left) || is_boolean(right)) {
      return fail(Errc::kInvalidArgument, "Boolean->Double coercion exception");
    } else {
      order = compare(to_double(left), to_double(right));
    }
    switch (node.op) {
      case ExpressionOp::kEqual:
        return Value(order == 0);
      case ExpressionOp::kNotEqual:
        return Value(order != 0);
      case ExpressionOp::kLess:
        return Value(order < 0);
      case ExpressionOp::kLessEqual:
        return Value(order <= 0);
      case ExpressionOp::kGreater:
        return Value(order > 0);
      default:
        return Value(order >= 0);
    }
  }

  Result<Value> arithmetic(const ExpressionNode& node, const Value& left, const Value& right) {
    const bool divides = node.op == ExpressionOp::kDivide || node.op == ExpressionOp::kModulo;
    const bool floating = is_floating(left) || is_floating(right);
    if (is_boolean(left) || is_boolean(right)) {
      if (floating) return fail(Errc::kInvalidArgument, "Boolean->Double coercion exception");
      if (divides) return Value(0.0);
      return fault(node, node.op == ExpressionOp::kMultiply ? "*" : "+/-");
    }
    if (!floating) return of_integers(node.op, to_integer(left), to_integer(right));
    return Value(of_doubles(node.op, to_double(left), to_double(right)));
  }

  static double of_doubles(ExpressionOp op, double left, double right) {
    switch (op) {
      case ExpressionOp::kAdd:
        return left + right;
      case ExpressionOp::kSubtract:
        return left - right;
      case ExpressionOp::kMultiply:
        return left * right;
      case ExpressionOp::kDivide:
        return right == 0 ? 0 : left / right;
      default:
        return right == 0 ? 0 : std::fmod(left, right);
    }
  }

  // A result that does not fit in 64 bits becomes a double.
  static Value of_integers(ExpressionOp op, std::int64_t left, std::int64_t right) {
    std::int64_t result = 0;
    bool overflow = false;
    switch (op) {
      case ExpressionOp::kAdd:
        overflow = __builtin_add_overflow(left, right, &result);
        break;
      case ExpressionOp::kSubtract:
        overflow = __builtin_sub_overflow(left, right, &result);
        break;
      case ExpressionOp::kMultiply:
        overflow = __builtin_mul_overflow(left, right, &result);
        break;
      default:
        if (right == 0) return 0.0;
        overflow = right == -1 && left == INT64_MIN;
        if (!overflow) result = op == ExpressionOp::kDivide ? left / right : left % right;
        break;
    }
    if (!overflow) return result;
    return of_doubles(op, static_cast<double>(left), static_cast<double>(right));
  }

  const Expression& expression_;
  std::vector<Value>& variables_;
};

}  // namespace

Result<double> ExpressionRun::operator()(std::span<const double> values) {
  variables_.assign(values.begin(), values.end());
  TRY(const Value result, Evaluator(expression_, variables_).value(*expression_.root));
  if (const auto* number = std::get_if<double>(&result)) return *number;
  if (const auto* boolean = std::get_if<bool>(&result)) return *boolean ? 1.0 : 0.0;
  return fail(Errc::kInvalidArgument,
              fmt::format("Expression returned a result of type: {} for \"{}\"; expected a number "
                          "computed from a series, or a comparison",
                          type_name(result), print_expression(expression_).text));
}

}  // namespace halite::query
