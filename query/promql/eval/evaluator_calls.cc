// The functions of PromQL: what each does with its arguments.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "query/promql/eval/evaluator.h"
#include "query/promql/eval/extended_functions.h"
#include "query/promql/eval/histogram_functions.h"
#include "query/promql/eval/instant_functions.h"
#include "query/promql/eval/label_functions.h"
#include "query/promql/eval/merge.h"
#include "query/promql/eval/range_functions.h"

namespace halite::query::promql {
namespace {

constexpr double kMillisInSecond = 1000;

double seconds(TimestampMs time) { return static_cast<double>(time) / kMillisInSecond; }

std::vector<double> times_of(Steps steps) {
  std::vector<double> times(steps.count);
  for (std::size_t i = 0; i < steps.count; ++i) times[i] = seconds(steps.at(i));
  return times;
}

Vector single_row(std::vector<double> values, Labels labels = {}) {
  Vector vector;
  vector.rows.push_back({.labels = std::move(labels), .values = std::move(values)});
  return vector;
}

std::string_view text_of(const Expr& expr) {
  return std::get<StringLiteral>(without_parentheses(expr).node).value;
}

// The labels that absent() can know: those of = matchers. A later matcher of the same label removes
// it.
Labels absent_labels(const Expr& argument, TextArena& texts) {
  const Expr& expr = without_parentheses(argument);
  const std::vector<LabelMatcher>* matchers = nullptr;
  if (const auto* const vector = std::get_if<VectorSelector>(&expr.node)) {
    matchers = &vector->matchers;
  } else if (const auto* const matrix = std::get_if<MatrixSelector>(&expr.node)) {
    matchers = &matrix->selector.matchers;
  } else {
    return {};
  }
  Labels labels;
  std::set<std::string_view> known;
  for (const LabelMatcher& matcher : *matchers) {
    if (matcher.name() == kMetricLabel) continue;
    if (matcher.kind() == MatchKind::kEqual && known.insert(matcher.name()).second) {
      labels.set(texts.keep(matcher.name()), texts.keep(matcher.value()));
    } else {
      labels.erase(matcher.name());
    }
  }
  return labels;
}

bool has_counter_name(std::string_view metric) {
  static constexpr auto kEndings =
      std::to_array<std::string_view>({"_total", "_sum", "_count", "_bucket"});
  return std::ranges::any_of(
      kEndings, [metric](std::string_view ending) { return metric.ends_with(ending); });
}

// The function itself, or what extends the range.
Result<const RangeFunction*> range_function(std::string_view name, const Expr& range) {
  const auto* const selector = std::get_if<MatrixSelector>(&without_parentheses(range).node);
  if (selector == nullptr || selector->selector.extension == Extension::kNone) {
    return find_range_function(name);
  }
  return find_extended_function(name, selector->selector.extension);
}

// The value of the only element at each step, or NaN.
std::vector<double> scalar_of(const Vector& vector, std::size_t steps) {
  std::vector<double> values(steps, kAbsent);
  std::vector<bool> several(steps, false);
  for (const Row& row : vector.rows) {
    for (std::size_t i = 0; i < steps; ++i) {
      if (is_absent(row.values[i])) continue;
      several[i] = several[i] || is_present(values[i]);
      values[i] = row.values[i];
    }
  }
  for (std::size_t i = 0; i < steps; ++i) {
    if (several[i] || is_absent(values[i])) values[i] = std::nan("");
  }
  return values;
}

// NaN if one is, but an infinity is less; -0 is less than 0.
double least_of(double a, double b) {
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  if (a == kLeast || b == kLeast) return kLeast;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

// The functions of experimental duration expressions that are allowed anywhere.
std::optional<double> constant_of(std::string_view name, Steps asked,
                                  const EvaluationOptions& options) {
  if (name == "pi") return std::numbers::pi;
  if (name == "start") return seconds(asked.begin);
  if (name == "end") return seconds(options.end);
  if (name == "range") return seconds(options.end - asked.begin);
  if (name == "step") return options.instant ? 0 : seconds(asked.step_ms);
  return std::nullopt;
}

}  // namespace

Task<Value> Evaluator::call(const Expr* expr, Steps steps) {
  const auto& node = std::get<Call>(expr->node);
  const std::string_view name = node.function->name;
  if (name == "time") co_return Scalar{times_of(steps)};
  if (const auto constant = constant_of(name, query_steps_, options_)) {
    co_return Scalar{std::vector<double>(steps.count, *constant)};
  }
  if (name == "start_timestamp") {  // points have none
    auto evaluating = evaluate_vector(node.arguments[0].get(), steps);
    CO_TRY_VOID(co_await std::move(evaluating));
    co_return Vector();
  }
  if (name == "vector") {
    auto evaluating = evaluate_scalar(node.arguments[0].get(), steps);
    CO_TRY(std::vector<double> values, co_await std::move(evaluating));
    co_return single_row(std::move(values));
  }
  if (name == "scalar") {
    auto evaluating = evaluate_vector(node.arguments[0].get(), steps);
    CO_TRY(const Vector vector, co_await std::move(evaluating));
    co_return Scalar{scalar_of(vector, steps.count)};
  }
  std::optional<Task<Value>> calling;
  if (name == "min_of" || name == "max_of") {
    calling = least_or_greatest(&node, steps);
  } else if (find_range_function(name) != nullptr) {
    calling = range_call(&node, steps);
  } else if (find_instant_function(name) != nullptr) {
    calling = instant_call(&node, steps);
  } else if (name.starts_with("absent")) {
    calling = absent_call(&node, steps);
  } else if (name.starts_with("histogram_")) {
    calling = histogram_call(expr, steps);
  } else if (name.starts_with("label_")) {
    calling = label_call(&node, steps);
  } else if (name.starts_with("sort")) {
    calling = sort_call(expr, steps);
  } else if (name == "timestamp") {
    calling = timestamp_call(&node, steps);
  } else if (name == "info") {
    calling = info_call(&node, steps);
  } else {
    co_return fail(Errc::kUnsupported, fmt::format("function \"{}\" is not supported", name));
  }
  co_return co_await std::move(*calling);
}

Task<Value> Evaluator::least_or_greatest(const Call* call, Steps steps) {
  const bool least = call->function->name == "min_of";
  auto first = evaluate_scalar(call->arguments[0].get(), steps);
  CO_TRY(std::vector<double> values, co_await std::move(first));
  auto second = evaluate_scalar(call->arguments[1].get(), steps);
  CO_TRY(const std::vector<double> others, co_await std::move(second));
  for (std::size_t i = 0; i < steps.count; ++i) {
    const double sign = least ? 1 : -1;
    const double one = least_of(sign * values[i], sign * others[i]);
    values[i] = std::isnan(one) ? one : sign * one;
  }
  co_return Scalar{std::move(values)};
}

Task<Evaluator::RangeCall> Evaluator::range_arguments(const Call* call, Steps steps) {
  RangeCall ready;
  for (const ExprPtr& argument : call->arguments) {
    if (argument->type == ValueType::kMatrix) {
      ready.range = argument.get();
      continue;
    }
    ready.scalar_at = argument->at;
    auto evaluating = evaluate_scalar(argument.get(), steps);
    CO_TRY(std::vector<double> values, co_await std::move(evaluating));
    ready.scalars.push_back(std::move(values));
  }
  CO_TRY(ready.function, range_function(call->function->name, *ready.range));
  std::vector<double> at_step(ready.scalars.size());
  for (std::size_t i = 0; i < steps.count && ready.function->check != nullptr; ++i) {
    for (std::size_t k = 0; k < at_step.size(); ++k) at_step[k] = ready.scalars[k][i];
    CO_TRY_VOID(ready.function->check(at_step));
  }
  co_return ready;
}

void Evaluator::annotate(const RangeCall& call, std::string_view metric) {
  if (call.function->wants_counter && !metric.empty() && !has_counter_name(metric)) {
    annotations_.inform(fmt::format("metric might not be a counter, name does not end in "
                                    "_total/_sum/_count/_bucket: \"{}\"",
                                    metric),
                        call.range->at);
  }
}

// The names of what a function over `range` returned.
Result<void> Evaluator::drop_names(Vector& vector, const Expr& range) {
  const auto* const read = std::get_if<MatrixSelector>(&without_parentheses(range).node);
  // Series of one metric have different labels without its name, too.
  bool differ =
      read != nullptr && Selector{.matchers = read->selector.matchers}.metric() != nullptr;
  for (Row& row : vector.rows) {
    const std::size_t before = row.labels.size();
    row.labels.drop_name();
    differ &= row.labels.size() + 1 == before;
  }
  if (differ) return {};
  return refuse_equal(vector);
}

Task<Value> Evaluator::range_call(const Call* call, Steps steps) {
  auto preparing = range_arguments(call, steps);
  CO_TRY(RangeCall ready, co_await std::move(preparing));
  auto evaluating = evaluate_range(std::move(ready), steps);
  CO_TRY(Vector vector, co_await std::move(evaluating));
  co_return vector;
}

Task<Vector> Evaluator::evaluate_range(RangeCall ready, Steps steps) {
  auto evaluating = over_range(ready, steps);
  CO_TRY(Vector vector, co_await std::move(evaluating));
  if (ready.function->name == "quantile_over_time" && !vector.rows.empty()) {
    for (const double q : ready.scalars.front()) annotations_.check_quantile(q, ready.scalar_at);
  }
  for (const Row& row : vector.rows) annotate(ready, row.labels.get(kMetricLabel));
  if (!ready.function->keeps_name) CO_TRY_VOID(drop_names(vector, *ready.range));
  co_return vector;
}

Task<Value> Evaluator::instant_call(const Call* call, Steps steps) {
  const InstantFunction* const function = find_instant_function(call->function->name);
  Vector vector;
  std::vector<std::vector<double>> scalars;
  for (const ExprPtr& argument : call->arguments) {
    if (argument->type == ValueType::kVector) {
      auto evaluating = evaluate_vector(argument.get(), steps);
      CO_TRY(vector, co_await std::move(evaluating));
    } else {
      auto evaluating = evaluate_scalar(argument.get(), steps);
      CO_TRY(std::vector<double> values, co_await std::move(evaluating));
      scalars.push_back(std::move(values));
    }
  }
  if (call->arguments.empty()) vector = single_row(times_of(steps));  // hour() and the like
  std::vector<double> parameters(scalars.size());
  for (Row& row : vector.rows) {
    for (std::size_t i = 0; i < steps.count; ++i) {
      if (is_absent(row.values[i])) continue;
      for (std::size_t k = 0; k < scalars.size(); ++k) parameters[k] = scalars[k][i];
      row.values[i] = function->evaluate(row.values[i], parameters);
    }
    row.labels.drop_name();
  }
  CO_TRY_VOID(merge_equal(vector));
  vector.ordered = false;
  co_return vector;
}

Task<Value> Evaluator::absent_call(const Call* call, Steps steps) {
  const Expr* const argument = call->arguments.front().get();
  Vector vector;
  if (argument->type == ValueType::kMatrix) {
    CO_TRY_VOID(range_function(call->function->name, *argument));
    const RangeCall present{.function = find_range_function("present_over_time"),
                            .range = argument};
    auto evaluating = over_range(present, steps);
    CO_TRY(vector, co_await std::move(evaluating));
  } else {
    auto evaluating = evaluate_vector(argument, steps);
    CO_TRY(vector, co_await std::move(evaluating));
  }
  std::vector<double> values(steps.count, 1);
  for (const Row& row : vector.rows) {
    for (std::size_t i = 0; i < steps.count; ++i) {
      if (is_present(row.values[i])) values[i] = kAbsent;
    }
  }
  Vector result = single_row(std::move(values), absent_labels(*argument, texts_));
  CO_TRY_VOID(merge_equal(result));
  co_return result;
}

Task<Value> Evaluator::histogram_call(const Expr* expr, Steps steps) {
  const auto& node = std::get<Call>(expr->node);
  const std::string_view name = node.function->name;
  std::vector<std::vector<double>> scalars;
  std::vector<Position> scalars_at;
  std::string_view label;  // of histogram_quantiles()
  const Expr* buckets = nullptr;
  for (const ExprPtr& argument : node.arguments) {
    if (argument->type == ValueType::kVector) {
      buckets = argument.get();
    } else if (argument->type == ValueType::kString) {
      label = text_of(*argument);
    } else {
      auto evaluating = evaluate_scalar(argument.get(), steps);
      CO_TRY(std::vector<double> values, co_await std::move(evaluating));
      scalars.push_back(std::move(values));
      scalars_at.push_back(argument->at);
    }
  }
  auto evaluating = evaluate_vector(buckets, steps);
  CO_TRY(Vector vector, co_await std::move(evaluating));
  Vector result;
  if (name == "histogram_quantile") {
    result =
        histogram_quantile(vector, scalars[0], steps, scalars_at[0], buckets->at, annotations_);
  } else if (name == "histogram_fraction") {
    result = histogram_fraction(vector, scalars[0], scalars[1], steps, buckets->at, annotations_);
  } else if (name == "histogram_quantiles") {
    std::vector<QuantileArgument> quantiles;
    for (std::size_t i = 0; i < scalars.size(); ++i) {
      quantiles.push_back({.values = scalars[i], .at = scalars_at[i]});
    }
    CO_TRY(result, histogram_quantiles(vector, label, quantiles, steps, buckets->at,
                                       budget_->limits().output_points_max, texts_, annotations_));
  }
  // The others are about native histograms: points are none.
  CO_TRY_VOID(merge_equal(result));
  co_return result;
}

Task<Value> Evaluator::label_call(const Call* call, Steps steps) {
  auto evaluating = evaluate_vector(call->arguments[0].get(), steps);
  CO_TRY(Vector vector, co_await std::move(evaluating));
  std::vector<std::string_view> texts;
  for (std::size_t i = 1; i < call->arguments.size(); ++i) {
    texts.push_back(text_of(*call->arguments[i]));
  }
  LabelTexts made(texts_, *budget_);
  if (call->function->name == "label_replace") {
    CO_TRY_VOID(label_replace(vector, texts[0], texts[1], texts[2], texts[3],
                              budget_->limits().regexp_bytes_max, made));
  } else {
    CO_TRY_VOID(label_join(vector, texts[0], texts[1], std::span(texts).subspan(2), made));
  }
  CO_TRY_VOID(merge_equal(vector));
  co_return vector;
}

Task<Value> Evaluator::sort_call(const Expr* expr, Steps steps) {
  const auto& node = std::get<Call>(expr->node);
  auto evaluating = evaluate_vector(node.arguments[0].get(), steps);
  CO_TRY(Vector vector, co_await std::move(evaluating));
  if (!options_.instant) {
    annotations_.warn(
        "sort is ineffective for range queries since results are always ordered by labels",
        expr->at);
  }
  const std::string_view name = node.function->name;
  const bool descending = name.ends_with("_desc");
  if (name.starts_with("sort_by_label")) {
    std::vector<std::string_view> labels;
    for (std::size_t i = 1; i < node.arguments.size(); ++i) {
      labels.push_back(text_of(*node.arguments[i]));
    }
    sort_by_label(vector, labels, descending);
  } else {
    sort_by_value(vector, descending);
  }
  vector.ordered = true;
  co_return vector;
}

Task<Value> Evaluator::timestamp_call(const Call* call, Steps steps) {
  const Expr& argument = without_parentheses(*call->arguments.front());
  const bool of_samples = std::holds_alternative<VectorSelector>(argument.node);
  auto evaluating = of_samples ? select(&argument, steps, true) : evaluate_at(&argument, steps);
  CO_TRY(Value value, co_await std::move(evaluating));
  auto& vector = std::get<Vector>(value);
  for (Row& row : vector.rows) {
    for (std::size_t i = 0; i < steps.count && !of_samples; ++i) {
      if (is_present(row.values[i])) row.values[i] = seconds(steps.at(i));
    }
    row.labels.drop_name();
  }
  CO_TRY_VOID(merge_equal(vector));
  co_return value;
}

}  // namespace halite::query::promql
