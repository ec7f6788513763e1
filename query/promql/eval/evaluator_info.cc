// info(): which info series are read, and of which times.
#include <algorithm>
#include <optional>
#include <utility>

#include "query/promql/eval/evaluator.h"
#include "query/promql/eval/info.h"
#include "query/promql/operator_walk.h"

namespace halite::query::promql {
namespace {

// The offset and @ of all selectors that the rows of the expression come from. Those in scalars,
// such as scalar(a), do not count.
// False: some have none, as vector(1), or are subqueries.
bool collect_times(const Expr& expr, std::vector<const TimeModifiers*>& times);

bool collect_times_of_operand(const Expr& expr, std::vector<const TimeModifiers*>& times) {
  const auto collects = [&times](const Expr& one) {
    return (one.type != ValueType::kVector && one.type != ValueType::kMatrix) ||
           collect_times(one, times);
  };
  if (const auto* const selector = std::get_if<VectorSelector>(&expr.node)) {
    times.push_back(&selector->time);
    return true;
  }
  if (const auto* const matrix = std::get_if<MatrixSelector>(&expr.node)) {
    times.push_back(&matrix->selector.time);
    return true;
  }
  if (const auto* const inner = std::get_if<Parentheses>(&expr.node)) return collects(*inner->expr);
  if (const auto* const unary = std::get_if<Unary>(&expr.node)) return collects(*unary->expr);
  if (const auto* const node = std::get_if<Aggregation>(&expr.node)) return collects(*node->expr);
  const auto* const call = std::get_if<Call>(&expr.node);
  if (call == nullptr) return false;
  const std::size_t before = times.size();
  // The second argument of info() returns nothing.
  const std::size_t count = call->function->name == "info" ? 1 : call->arguments.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!collects(*call->arguments[i])) return false;
  }
  return times.size() > before;
}

bool collect_times(const Expr& expr, std::vector<const TimeModifiers*>& times) {
  OperatorWalk<const Expr> walk(expr);
  while (const auto step = walk.next()) {
    if (step->visit != Visit::kOperand || step->expr->type == ValueType::kScalar) continue;
    if (!collect_times_of_operand(*step->expr, times)) return false;
  }
  return true;
}

}  // namespace

// Info series are those of the time of the samples, if all selectors have the same time, and
// otherwise those of the step.
WindowPlan Evaluator::info_plan(const Expr& expr, Steps steps) const {
  std::vector<const TimeModifiers*> times;
  WindowPlan plan = plan_of(TimeModifiers(), steps);
  if (collect_times(expr, times)) {
    const WindowPlan first = plan_of(*times.front(), steps);
    const bool same = std::ranges::all_of(times, [&](const TimeModifiers* time) {
      return plan_of(*time, steps).range() == first.range();
    });
    if (same) plan = first;
  }
  plan.range_ms = options_.lookback_ms;
  plan.sample_times = true;
  return plan;
}

Task<Value> Evaluator::info_call(const Call* call, Steps steps) {
  const Expr* const of = call->arguments.front().get();
  const auto* const argument =
      call->arguments.size() > 1 ? std::get_if<VectorSelector>(&call->arguments[1]->node) : nullptr;
  CO_TRY(const InfoMatchers matchers, info_matchers(argument));
  auto evaluating = evaluate_vector(of, steps);
  CO_TRY(Vector base, co_await std::move(evaluating));
  CO_TRY(std::optional<Selector> selector, info_selector(base, matchers));
  std::vector<Row> info;
  if (selector) {
    auto reading = reader_.read_columns(*std::move(selector), info_plan(*of, steps));
    CO_TRY(info, co_await std::move(reading));
  }
  auto joined = join_info(std::move(base), std::move(info), matchers, *budget_);
  if (!joined) co_return std::unexpected(joined.error());
  co_return *std::move(joined);
}

}  // namespace halite::query::promql
