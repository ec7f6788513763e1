#include "query/promql/reach.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "query/promql/operator_walk.h"

namespace halite::query::promql {
namespace {

// Collects what the parts of an expression read. Each call returns false if there is no reach.
class ReachOf {
 public:
  ReachOf(std::int64_t lookback_ms, Reach& reach) : lookback_ms_(lookback_ms), reach_(reach) {}

  // `before_ms`: how long before the query's time the expression is evaluated, at most.
  bool add(const Expr& expr, std::int64_t before_ms) {
    OperatorWalk<const Expr> walk(expr);
    while (const auto step = walk.next()) {
      if (step->visit == Visit::kBefore) {
        const auto& binary = std::get<Binary>(step->expr->node);
        may_collide_ |= binary.op == BinaryOp::kOr || !binary.matching.include.empty();
      }
      if (step->visit == Visit::kOperand && !add_operand(*step->expr, before_ms)) return false;
    }
    return true;
  }

 private:
  bool add_operand(const Expr& expr, std::int64_t before_ms) {
    if (const auto* const unary = std::get_if<Unary>(&expr.node)) {
      return add(*unary->expr, before_ms);
    }
    if (const auto* const inner = std::get_if<Parentheses>(&expr.node)) {
      return add(*inner->expr, before_ms);
    }
    if (const auto* const selector = std::get_if<VectorSelector>(&expr.node)) {
      return add_selector(*selector, before_ms, lookback_ms_, false);
    }
    if (const auto* const matrix = std::get_if<MatrixSelector>(&expr.node)) {
      return is_constant(matrix->range) &&
             add_selector(matrix->selector, before_ms, matrix->range.ms, true);
    }
    if (const auto* const subquery = std::get_if<Subquery>(&expr.node)) {
      return is_constant(subquery->range) && is_constant(subquery->step) &&
             is_behind(subquery->time) &&
             add_subquery(*subquery->expr,
                          before_ms + subquery->time.offset.ms + subquery->range.ms);
    }
    if (const auto* const call = std::get_if<Call>(&expr.node)) {
      may_collide_ |= call->function->name.starts_with("label_");
      return is_about_one_time(call->function->name) &&
             std::ranges::all_of(call->arguments,
                                 [&](const ExprPtr& one) { return add(*one, before_ms); });
    }
    if (const auto* const aggregation = std::get_if<Aggregation>(&expr.node)) {
      may_collide_ |= aggregation->op == AggregateOp::kCountValues;
      return add_parameter(*aggregation, before_ms) && add(*aggregation->expr, before_ms);
    }
    return true;
  }

  // names_one: it must name one metric, as add_subquery() says.
  bool add_selector(const VectorSelector& selector, std::int64_t before_ms, std::int64_t range_ms,
                    bool names_one) {
    // A smoothed one also reads what is behind the window.
    if (!is_behind(selector.time) || selector.extension == Extension::kSmoothed) return false;
    if (selector.extension == Extension::kAnchored) range_ms += lookback_ms_;
    reach_.back_ms = std::max(reach_.back_ms, before_ms + selector.time.offset.ms + range_ms);
    const auto named = std::ranges::find_if(selector.matchers, [](const LabelMatcher& one) {
      return one.name() == kMetricLabel && one.kind() == MatchKind::kEqual;
    });
    if (named == selector.matchers.end()) {
      if (names_one) return false;
      reach_.any_metric = true;
    } else {
      reach_.metrics.insert(named->value());
    }
    return true;
  }

  // Functions over a range remove names. They fail if series then have equal labels, even at
  // different times. Series of one name cannot, unless the expression makes labels or mixes rows
  // with and without a name.
  bool add_subquery(const Expr& expr, std::int64_t before_ms) {
    Reach inner;
    ReachOf parts(lookback_ms_, inner);
    if (!parts.add(expr, before_ms) || inner.any_metric || inner.metrics.size() > 1 ||
        parts.may_collide_) {
      return false;
    }
    reach_.back_ms = std::max(reach_.back_ms, inner.back_ms);
    reach_.metrics.merge(inner.metrics);
    return true;
  }

  // What topk() and its like make of a parameter depends on its value at all times.
  bool add_parameter(const Aggregation& aggregation, std::int64_t before_ms) {
    if (aggregation.parameter == nullptr) return true;
    const Expr& parameter = *aggregation.parameter;
    switch (aggregation.op) {
      case AggregateOp::kTopk:
      case AggregateOp::kBottomk:
      case AggregateOp::kLimitk:
      case AggregateOp::kLimitRatio:
        return std::holds_alternative<NumberLiteral>(without_parentheses(parameter).node);
      default:
        return add(parameter, before_ms);
    }
  }

  // start(), end() and range() are those of the query; info() reads series that it does not name.
  static bool is_about_one_time(std::string_view function) {
    return function != "start" && function != "end" && function != "range" && function != "info";
  }

  static bool is_constant(const Duration& duration) { return duration.expr == nullptr; }
  static bool is_behind(const TimeModifiers& time) {
    return time.at == AtKind::kNone && is_constant(time.offset) && time.offset.ms >= 0;
  }

  const std::int64_t lookback_ms_;
  Reach& reach_;
  // Series may have equal labels, but for the name.
  bool may_collide_ = false;
};

}  // namespace

std::optional<Reach> reach_of(const Expr& expr, std::int64_t lookback_ms) {
  Reach reach;
  if (!ReachOf(lookback_ms, reach).add(expr, 0)) return std::nullopt;
  return reach;
}

}  // namespace halite::query::promql
