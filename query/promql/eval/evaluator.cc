#include "query/promql/eval/evaluator.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "query/promql/eval/aggregate.h"
#include "query/promql/eval/binary.h"
#include "query/promql/eval/extended_functions.h"
#include "query/promql/eval/group_fold.h"
#include "query/promql/eval/merge.h"
#include "query/promql/operator_walk.h"

namespace halite::query::promql {
namespace {

Selector selector_of(const VectorSelector& selector) { return {.matchers = selector.matchers}; }

void sort_by_labels(Vector& vector) { std::ranges::sort(vector.rows, {}, &Row::labels); }

}  // namespace

Evaluator::Evaluator(storage::PointStore& store, std::shared_ptr<QueryBudget> budget,
                     EvaluationOptions options, Steps steps, TextArena& texts,
                     Annotations& annotations)
    : store_(store),
      budget_(std::move(budget)),
      options_(options),
      query_steps_(steps),
      texts_(texts),
      annotations_(annotations),
      reader_(store_, options_.counters, budget_) {}

Task<Value> Evaluator::evaluate(const Expr& expr) {
  auto evaluating = evaluate_at(&expr, query_steps_);
  CO_TRY(Value value, co_await std::move(evaluating));
  if (auto* const vector = std::get_if<Vector>(&value)) {
    if (!vector->ordered || !options_.instant) sort_by_labels(*vector);
  } else if (auto* const found = std::get_if<Matrix>(&value)) {
    std::ranges::sort(found->rows, {}, &MatrixRow::labels);
  }
  co_return value;
}

std::int64_t Evaluator::bytes_of(const Value& value) {
  std::int64_t bytes = 0;
  if (const auto* const scalar = std::get_if<Scalar>(&value)) {
    bytes = static_cast<std::int64_t>(scalar->values.size() * sizeof(double));
  } else if (const auto* const vector = std::get_if<Vector>(&value)) {
    for (const Row& row : vector->rows) bytes += row_bytes(row.labels, row.values.size());
  }
  return bytes;
}

// Counts the memory of values: what a node used is released, and its result is counted.
Task<Value> Evaluator::evaluate_at(const Expr* expr, Steps steps) {
  CO_TRY_VOID(budget_->check());
  const std::int64_t before = budget_->bytes();
  const std::size_t texts_before = texts_.bytes();
  CO_TRY_VOID(budget_->add_bytes(column_bytes(steps.count)));  // before it is allocated
  auto evaluating = evaluate_node(expr, steps);
  CO_TRY(Value value, co_await std::move(evaluating));
  if (!std::holds_alternative<Matrix>(value)) {
    const auto texts = static_cast<std::int64_t>(texts_.bytes() - texts_before);
    CO_TRY_VOID(budget_->add_bytes(before + bytes_of(value) + texts - budget_->bytes()));
  }
  co_return value;
}

Task<Value> Evaluator::evaluate_node(const Expr* expr, Steps steps) {
  if (const auto* const number = std::get_if<NumberLiteral>(&expr->node)) {
    co_return Scalar{std::vector<double>(steps.count, number->value)};
  }
  if (const auto* const text = std::get_if<StringLiteral>(&expr->node)) co_return text->value;
  // One statement that awaits, whatever is awaited.
  std::optional<Task<Value>> evaluating;
  if (const auto* const inner = std::get_if<Parentheses>(&expr->node)) {
    evaluating = evaluate_at(inner->expr.get(), steps);
  } else if (std::holds_alternative<VectorSelector>(expr->node)) {
    evaluating = select(expr, steps, false);
  } else if (expr->type == ValueType::kMatrix) {
    evaluating = matrix(expr, steps);
  } else if (std::holds_alternative<Call>(expr->node)) {
    evaluating = call(expr, steps);
  } else if (std::holds_alternative<Aggregation>(expr->node)) {
    evaluating = aggregation(expr, steps);
  } else if (const auto* const unary = std::get_if<Unary>(&expr->node)) {
    evaluating = negation(unary, steps);
  } else {
    evaluating = binary(expr, steps);
  }
  co_return co_await std::move(*evaluating);
}

Task<Vector> Evaluator::evaluate_vector(const Expr* expr, Steps steps) {
  auto evaluating = evaluate_at(expr, steps);
  CO_TRY(Value value, co_await std::move(evaluating));
  co_return std::get<Vector>(std::move(value));
}

Task<std::vector<double>> Evaluator::evaluate_scalar(const Expr* expr, Steps steps) {
  auto evaluating = evaluate_at(expr, steps);
  CO_TRY(Value value, co_await std::move(evaluating));
  co_return std::get<Scalar>(std::move(value)).values;
}

WindowPlan Evaluator::plan_of(const TimeModifiers& time, Steps steps) const {
  WindowPlan plan;
  plan.steps = steps;
  plan.budget = budget_.get();
  plan.offset_ms = time.offset.ms;
  switch (time.at) {
    case AtKind::kNone:
      break;
    case AtKind::kTime:
      plan.fixed_end = time.at_ms - time.offset.ms;
      break;
    case AtKind::kStart:
      plan.fixed_end = query_steps_.begin - time.offset.ms;
      break;
    case AtKind::kEnd:
      plan.fixed_end = options_.end - time.offset.ms;
      break;
  }
  return plan;
}

WindowPlan Evaluator::plan_of(const VectorSelector& selector, Steps steps,
                              bool sample_times) const {
  WindowPlan plan = plan_of(selector.time, steps);
  plan.range_ms = options_.lookback_ms;
  plan.sample_times = sample_times;
  if (selector.extension == Extension::kSmoothed && !sample_times) {
    plan.function = &smoothed_selector();
    plan.behind_ms = options_.lookback_ms;
  }
  return plan;
}

void Evaluator::extend(WindowPlan& plan, Extension extension) const {
  if (extension != Extension::kNone) plan.before_ms = options_.lookback_ms;
  if (extension == Extension::kSmoothed) plan.behind_ms = options_.lookback_ms;
}

Task<Value> Evaluator::select(const Expr* expr, Steps steps, bool sample_times) {
  const auto& selector = std::get<VectorSelector>(expr->node);
  auto reading =
      reader_.read_columns(selector_of(selector), plan_of(selector, steps, sample_times));
  CO_TRY(std::vector<Row> rows, co_await std::move(reading));
  co_return Vector{.rows = std::move(rows)};
}

// A range vector that no function consumes.
Task<Value> Evaluator::matrix(const Expr* expr, Steps steps) {
  Matrix found;
  if (const auto* const subquery = std::get_if<Subquery>(&expr->node)) {
    WindowPlan plan = plan_of(subquery->time, steps);
    plan.range_ms = subquery->range.ms;
    const Steps inner = inner_steps(*subquery, plan);
    if (inner.count == 0) co_return found;
    auto evaluating = evaluate_vector(subquery->expr.get(), inner);
    CO_TRY(Vector vector, co_await std::move(evaluating));
    for (Row& row : vector.rows) {
      CO_TRY(MatrixRow samples, samples_of(std::move(row), inner));
      found.rows.push_back(std::move(samples));
    }
    co_return found;
  }
  const auto& range = std::get<MatrixSelector>(expr->node);
  WindowPlan plan = plan_of(range.selector.time, steps);
  plan.range_ms = range.range.ms;
  extend(plan, range.selector.extension);
  auto reading = reader_.read_samples(selector_of(range.selector), plan.range());
  CO_TRY(found.rows, co_await std::move(reading));
  if (range.selector.extension == Extension::kNone) co_return found;
  for (MatrixRow& row : found.rows) {
    ExtendedSamples samples = extended_samples({.times = row.times.data(),
                                                .values = row.values.data(),
                                                .size = row.times.size(),
                                                .begin = plan.end_of(0) - plan.range_ms,
                                                .end = plan.end_of(0)},
                                               range.selector.extension);
    row.times = std::move(samples.times);
    row.values = std::move(samples.values);
  }
  std::erase_if(found.rows, [](const MatrixRow& row) { return row.times.empty(); });
  co_return found;
}

// The values of a row as samples, in place of its column.
Result<MatrixRow> Evaluator::samples_of(Row row, const Steps& steps) {
  TRY_VOID(budget_->check());
  const auto count = static_cast<std::size_t>(std::ranges::count_if(row.values, is_present));
  const std::size_t bytes = count * (sizeof(TimestampMs) + sizeof(double));
  TRY_VOID(budget_->add_bytes(static_cast<std::int64_t>(bytes)));  // before it is allocated
  MatrixRow to{.labels = std::move(row.labels), .times = {}, .values = {}};
  to.times.reserve(count);
  to.values.reserve(count);
  for (std::size_t i = 0; i < steps.count; ++i) {
    if (is_absent(row.values[i])) continue;
    to.times.push_back(steps.at(i));
    to.values.push_back(row.values[i]);
  }
  TRY_VOID(budget_->add_bytes(-column_bytes(steps.count)));
  return to;
}

// The multiples of the step in all windows of the plan.
Steps Evaluator::inner_steps(const Subquery& subquery, const WindowPlan& plan) const {
  const std::int64_t step = subquery.step.ms != 0 ? subquery.step.ms : options_.default_step_ms;
  const auto floor = [step](TimestampMs time) { return time - ((time % step) + step) % step; };
  const TimestampMs begin = floor(plan.end_of(0) - plan.range_ms) + step;
  const TimestampMs last = floor(plan.end_of(plan.steps.count - 1));
  const std::size_t count = begin > last ? 0 : static_cast<std::size_t>((last - begin) / step) + 1;
  return {.begin = begin, .step_ms = step, .count = count};
}

// The values of `row` as samples in the windows of the plan. The budget counts what they need.
Result<Row> Evaluator::over_samples(Row row, const Steps& inner, const WindowPlan& plan) {
  constexpr std::size_t kTogether = 1 << 14;
  TRY_VOID(budget_->add_bytes(column_bytes(plan.steps.count)));
  Row to{.labels = std::move(row.labels), .values = std::vector<double>(plan.steps.count, kAbsent)};
  SeriesWindows windows(plan);
  SeriesProgress progress;
  Samples samples;
  std::int64_t counted = 0;
  for (std::size_t i = 0; i < inner.count; ++i) {
    if (is_present(row.values[i])) {
      samples.times.push_back(inner.at(i));
      samples.values.push_back(row.values[i]);
    }
    if (samples.size() < kTogether && i + 1 < inner.count) continue;
    windows.add(progress, samples, to.values);
    samples.times.clear();
    samples.values.clear();
    TRY_VOID(budget_->check());
    const auto bytes = static_cast<std::int64_t>(progress.bytes());
    TRY_VOID(budget_->add_bytes(bytes - std::exchange(counted, bytes)));
  }
  windows.finish(progress, to.values);
  TRY_VOID(budget_->check());
  TRY_VOID(budget_->add_bytes(-counted));
  return to;
}

Task<Vector> Evaluator::over_subquery(const Subquery* subquery, WindowPlan plan) {
  const Steps inner = inner_steps(*subquery, plan);
  Vector result;
  if (inner.count == 0) co_return result;
  auto evaluating = evaluate_vector(subquery->expr.get(), inner);
  CO_TRY(Vector vector, co_await std::move(evaluating));
  for (Row& row : vector.rows) {
    CO_TRY(Row to, over_samples(std::move(row), inner, plan));
    if (has_values(to)) result.rows.push_back(std::move(to));
  }
  co_return result;
}

WindowPlan Evaluator::plan_of(const RangeCall& call, Steps steps) const {
  const Expr& range = without_parentheses(*call.range);
  const auto* const subquery = std::get_if<Subquery>(&range.node);
  const auto* const selector = std::get_if<MatrixSelector>(&range.node);
  WindowPlan plan = plan_of(subquery ? subquery->time : selector->selector.time, steps);
  plan.range_ms = subquery ? subquery->range.ms : selector->range.ms;
  if (selector != nullptr) extend(plan, selector->selector.extension);
  plan.function = call.function;
  plan.parameters.assign(call.scalars.begin(), call.scalars.end());
  return plan;
}

Task<Vector> Evaluator::over_range(const RangeCall& call, Steps steps) {
  WindowPlan plan = plan_of(call, steps);
  const Expr& range = without_parentheses(*call.range);
  if (const auto* const subquery = std::get_if<Subquery>(&range.node)) {
    auto evaluating = over_subquery(subquery, std::move(plan));
    co_return co_await std::move(evaluating);
  }
  const auto& selector = std::get<MatrixSelector>(range.node).selector;
  auto reading = reader_.read_columns(selector_of(selector), std::move(plan));
  CO_TRY(std::vector<Row> rows, co_await std::move(reading));
  co_return Vector{.rows = std::move(rows)};
}

Task<Evaluator::FoldedGroups> Evaluator::fold_groups(const Aggregation* aggregation, Steps steps) {
  if (!GroupFold::folds(aggregation->op)) co_return FoldedGroups();
  const Expr& expr = without_parentheses(*aggregation->expr);
  if (const auto* const selector = std::get_if<VectorSelector>(&expr.node)) {
    auto reading =
        reader_.read_groups(selector_of(*selector), plan_of(*selector, steps, false), *aggregation);
    CO_TRY(std::optional<Vector> groups, co_await std::move(reading));
    co_return FoldedGroups{.groups = std::move(groups), .input = {}};
  }
  const auto* const call = std::get_if<Call>(&expr.node);
  if (call == nullptr || find_range_function(call->function->name) == nullptr) {
    co_return FoldedGroups();
  }
  const auto argument = std::ranges::find(call->arguments, ValueType::kMatrix,
                                          [](const ExprPtr& one) { return one->type; });
  const auto* const range = std::get_if<MatrixSelector>(&without_parentheses(**argument).node);
  if (range == nullptr || call->function->name == "quantile_over_time") co_return FoldedGroups();
  // Series of several metrics may have the same labels, which is an error.
  const Selector selector = selector_of(range->selector);
  const std::string* const metric = selector.metric();
  if (metric == nullptr) co_return FoldedGroups();
  auto preparing = range_arguments(call, steps);
  CO_TRY(RangeCall ready, co_await std::move(preparing));
  auto reading = reader_.read_groups(selector, plan_of(ready, steps), *aggregation);
  CO_TRY(std::optional<Vector> groups, co_await std::move(reading));
  if (!groups) co_return FoldedGroups{.groups = {}, .input = std::move(ready)};
  if (!groups->rows.empty()) annotate(ready, *metric);
  co_return FoldedGroups{.groups = std::move(groups), .input = {}};
}

// Operators one after the other: chains of them are long.
Task<Value> Evaluator::binary(const Expr* expr, Steps steps) {
  std::vector<Value> values;  // of left sides whose right sides are not evaluated
  OperatorWalk<const Expr> walk(*expr);
  while (const auto step = walk.next()) {
    if (step->visit == Visit::kOperand) {
      auto evaluating = evaluate_at(step->expr, steps);
      CO_TRY(Value value, co_await std::move(evaluating));
      values.push_back(std::move(value));
      continue;
    }
    if (step->visit != Visit::kAfter) continue;
    CO_TRY_VOID(budget_->check());
    const std::size_t texts_before = texts_.bytes();
    Value right = std::move(values.back());
    values.pop_back();
    const std::int64_t used = bytes_of(values.back()) + bytes_of(right);
    CO_TRY(values.back(), evaluate_binary(std::get<Binary>(step->expr->node),
                                          std::move(values.back()), std::move(right), steps,
                                          step->expr->at, texts_, annotations_, *budget_));
    const auto texts = static_cast<std::int64_t>(texts_.bytes() - texts_before);
    CO_TRY_VOID(budget_->add_bytes(bytes_of(values.back()) + texts - used));
  }
  co_return std::move(values.back());
}

Task<Value> Evaluator::aggregation(const Expr* expr, Steps steps) {
  const auto& node = std::get<Aggregation>(expr->node);
  AggregateParameter parameter;
  parameter.values_max = budget_->limits().bytes_max / sizeof(double);
  parameter.budget = budget_.get();
  Value given;
  if (node.parameter != nullptr) {
    auto evaluating = evaluate_at(node.parameter.get(), steps);
    CO_TRY(given, co_await std::move(evaluating));
    parameter.at = node.parameter->at;
    if (const auto* const numbers = std::get_if<Scalar>(&given)) {
      parameter.numbers = numbers->values;
    } else {
      parameter.label = std::get<std::string>(given);
    }
  }
  auto folding = fold_groups(&node, steps);
  CO_TRY(FoldedGroups folded, co_await std::move(folding));
  if (folded.groups) co_return *std::move(folded.groups);
  // Its arguments, which may be aggregations again, are not evaluated twice.
  auto evaluating = folded.input ? evaluate_range(*std::move(folded.input), steps)
                                 : evaluate_vector(node.expr.get(), steps);
  CO_TRY(Vector input, co_await std::move(evaluating));
  // Which rows are the first ones must not depend on the order in which a store reads.
  const bool chooses = node.op == AggregateOp::kTopk || node.op == AggregateOp::kBottomk ||
                       node.op == AggregateOp::kLimitk;
  if (chooses) sort_by_labels(input);
  auto aggregated = aggregate(node, std::move(input), parameter, steps,
                              options_.instant && steps == query_steps_, texts_, annotations_);
  if (!aggregated) co_return std::unexpected(aggregated.error());
  co_return std::move(*aggregated);
}

Task<Value> Evaluator::negation(const Unary* unary, Steps steps) {
  auto evaluating = evaluate_at(unary->expr.get(), steps);
  CO_TRY(Value value, co_await std::move(evaluating));
  if (!unary->negates) co_return value;
  const auto negate = [](std::vector<double>& values) {
    for (double& one : values) {
      if (is_present(one)) one = -one;
    }
  };
  if (auto* const scalar = std::get_if<Scalar>(&value)) {
    negate(scalar->values);
    co_return value;
  }
  auto& vector = std::get<Vector>(value);
  for (Row& row : vector.rows) {
    negate(row.values);
    row.labels.drop_name();
  }
  CO_TRY_VOID(merge_equal(vector));
  co_return value;
}

}  // namespace halite::query::promql
