#include "query/promql/check.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <unordered_set>

#include <fmt/format.h>

#include "query/promql/go_text.h"
#include "query/promql/lexer.h"
#include "query/promql/operator_walk.h"

namespace halite::query::promql {
namespace {

class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  Result<void> check(Expr& expr) {
    OperatorWalk<Expr> walk(expr);
    while (const auto step = walk.next()) {
      if (step->visit != Visit::kOperand && step->visit != Visit::kAfter) continue;
      TRY_VOID(std::visit([this, &step](auto& node) { return check_node(*step->expr, node); },
                          step->expr->node));
    }
    return {};
  }

 private:
  [[nodiscard]] std::unexpected<Error> fail_at(std::size_t at, std::string_view message) const {
    return parse_error(text_, at, message);
  }
  [[nodiscard]] std::unexpected<Error> fail_at(const Expr& expr, std::string_view message) const {
    return fail_at(expr.at.begin, message);
  }

  Result<void> expect(Expr& expr, ValueType wanted, std::string_view where) {
    TRY_VOID(check(expr));
    if (expr.type == wanted) return {};
    return fail_at(expr, fmt::format("expected type {} in {}, got {}", type_name(wanted), where,
                                     type_name(expr.type)));
  }

  Result<void> check_node(Expr&, NumberLiteral&) { return {}; }
  Result<void> check_node(Expr&, StringLiteral&) { return {}; }
  Result<void> check_node(Expr&, Parentheses& node) { return check(*node.expr); }

  Result<void> check_node(Expr& expr, VectorSelector& selector) {
    return check_selector(selector, expr.at.begin, false);
  }
  Result<void> check_node(Expr& expr, MatrixSelector& node) {
    return check_selector(node.selector, expr.at.begin, false);
  }
  Result<void> check_selector(const VectorSelector& selector, std::size_t at, bool may_be_empty) {
    if (!selector.name.empty()) {
      for (const LabelMatcher& matcher :
           selector.matchers | std::views::take(selector.matchers.size() - 1)) {
        if (matcher.name() != kMetricLabel) continue;
        return fail_at(at, fmt::format("metric name must not be set twice: {} or {}",
                                       go_quoted(selector.name), go_quoted(matcher.value())));
      }
      return {};
    }
    if (may_be_empty || !std::ranges::all_of(selector.matchers, &LabelMatcher::matches_absent)) {
      return {};
    }
    return fail_at(at, "vector selector must contain at least one non-empty matcher");
  }

  Result<void> check_node(Expr& expr, Subquery& node) {
    TRY_VOID(check(*node.expr));
    if (node.expr->type == ValueType::kVector) return {};
    return fail_at(expr, fmt::format("subquery is only allowed on instant vector, got {} instead",
                                     type_word(node.expr->type)));
  }

  Result<void> check_node(Expr& expr, Unary& node) {
    TRY_VOID(check(*node.expr));
    if (is_arithmetic(*node.expr)) return {};
    return fail_at(expr, fmt::format("unary expression only allowed on expressions of type scalar "
                                     "or instant vector, got {}",
                                     go_quoted(type_name(node.expr->type))));
  }

  Result<void> check_node(Expr&, Aggregation& node) {
    TRY_VOID(expect(*node.expr, ValueType::kVector, "aggregation expression"));
    if (node.parameter == nullptr) return {};
    return expect(*node.parameter,
                  node.op == AggregateOp::kCountValues ? ValueType::kString : ValueType::kScalar,
                  "aggregation parameter");
  }

  Result<void> check_node(Expr& expr, Call& call) {
    const Function& function = *call.function;
    TRY_VOID(check_count(expr, call));
    const std::string where = fmt::format("call to function {}", go_quoted(function.name));
    const bool is_info = function.name == "info" && call.arguments.size() > 1;
    if (is_info) TRY_VOID(check_info(expr, *call.arguments[1], where));
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const std::size_t last = function.arguments.size() - 1;
      Expr& argument = *call.arguments[i];
      if (is_info && i == 1) {
        const auto& selector = std::get<VectorSelector>(argument.node);
        TRY_VOID(check_selector(selector, argument.at.begin, true));
      } else {
        TRY_VOID(expect(argument, function.arguments[std::min(i, last)], where));
      }
    }
    return {};
  }

  Result<void> check_count(const Expr& expr, const Call& call) {
    const Function& function = *call.function;
    const std::size_t given = call.arguments.size();
    const std::size_t listed = function.arguments.size();
    const auto wrong = [&](std::string_view how_many, std::size_t wanted) {
      return fail_at(expr, fmt::format("expected {}{} argument(s) in call to {}, got {}", how_many,
                                       wanted, go_quoted(function.name), given));
    };
    if (function.variadic == 0) {
      if (given != listed) return wrong("", listed);
      return {};
    }
    const std::size_t least = listed - 1;
    if (given < least) return wrong("at least ", least);
    if (function.variadic < 0) return {};
    const std::size_t most = least + static_cast<std::size_t>(function.variadic);
    if (given > most) return wrong("at most ", most);
    return {};
  }

  // Matchers in braces, without a metric.
  Result<void> check_info(const Expr& call, const Expr& labels, std::string_view where) {
    if (labels.type != ValueType::kVector) {
      return fail_at(
          call, fmt::format("expected type {} in {}, got {}", type_name(ValueType::kVector), where,
                            type_name(labels.type)));
    }
    const auto* const selector = std::get_if<VectorSelector>(&labels.node);
    if (selector == nullptr) return fail_at(labels, "expected label selectors only");
    if (selector->name.empty()) return {};
    return fail_at(labels, "expected label selectors only, got vector selector instead");
  }

  static bool is_arithmetic(const Expr& expr) {
    return expr.type == ValueType::kScalar || expr.type == ValueType::kVector;
  }

  // The first byte of the operator.
  [[nodiscard]] std::size_t operator_at(const Binary& node) const {
    return text_.find_first_not_of(" \t\n\r", node.left->at.end);
  }

  // Its sides are checked.
  Result<void> check_node(Expr& expr, Binary& node) {
    TRY_VOID(check_operator(node));
    for (const ExprPtr* const side : {&node.left, &node.right}) {
      if (is_arithmetic(**side)) continue;
      return fail_at(**side, "binary expression must contain only scalar and instant vector types");
    }
    return check_matching(expr, node);
  }

  Result<void> check_operator(const Binary& node) const {
    const bool compares = is_comparison(node.op);
    const bool of_scalars =
        node.left->type == ValueType::kScalar && node.right->type == ValueType::kScalar;
    if (node.returns_bool && !compares) {
      return fail_at(operator_at(node), "bool modifier can only be used on comparison operators");
    }
    if (compares && !node.returns_bool && of_scalars) {
      return fail_at(operator_at(node), "comparisons between scalars must use BOOL modifier");
    }
    if (!node.matching.on) return {};
    const std::unordered_set<std::string_view> included(node.matching.include.begin(),
                                                        node.matching.include.end());
    for (const std::string& label : node.matching.labels) {
      if (!included.contains(label)) continue;
      return fail_at(
          operator_at(node),
          fmt::format("label {} must not occur in ON and GROUP clause at once", go_quoted(label)));
    }
    return {};
  }

  Result<void> check_matching(const Expr& expr, Binary& node) {
    VectorMatching& matching = node.matching;
    const bool fills = matching.fill_left || matching.fill_right;
    const std::string op = go_quoted(binary_symbol(node.op));
    if (node.left->type != ValueType::kVector || node.right->type != ValueType::kVector) {
      if (!matching.labels.empty()) {
        return fail_at(expr, "vector matching only allowed between instant vectors");
      }
      if (fills) {
        return fail_at(expr, "filling in missing series only allowed between instant vectors");
      }
      matching = {};
      if (!is_set_operator(node.op)) return {};
      return fail_at(expr,
                     fmt::format("set operator {} not allowed in binary scalar expression", op));
    }
    if (!is_set_operator(node.op)) return {};
    if (matching.cardinality != MatchCardinality::kOneToOne) {
      return fail_at(expr, fmt::format("no grouping allowed for {} operation", op));
    }
    if (fills) return fail_at(expr, "filling in missing series not allowed for set operators");
    matching.cardinality = MatchCardinality::kManyToMany;
    return {};
  }

  std::string_view text_;
};

}  // namespace

Result<void> check_types(Expr& expr, std::string_view text) { return Checker(text).check(expr); }

}  // namespace halite::query::promql
