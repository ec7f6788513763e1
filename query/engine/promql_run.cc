#include "query/engine/promql_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "query/engine/stepped_run.h"
#include "query/promql/eval/annotations.h"
#include "query/promql/eval/evaluator.h"
#include "query/query_budget.h"

namespace halite::query {
namespace {

// What an answer needs as long as it lives.
struct Kept {
  explicit Kept(std::size_t text_bytes_max) : texts(text_bytes_max) {}

  std::shared_ptr<const promql::Expr> expr;  // whose texts are names of labels
  promql::TextArena texts;
  std::vector<std::shared_ptr<const storage::Selection>> selections;
  std::shared_ptr<const std::string> cached_texts;
  std::shared_ptr<const AnswerReservation> room;
};

std::uint64_t present_values(const promql::Value& value) {
  std::uint64_t count = 0;
  if (const auto* const vector = std::get_if<promql::Vector>(&value)) {
    for (const promql::Row& row : vector->rows) {
      count += static_cast<std::uint64_t>(std::ranges::count_if(row.values, promql::is_present));
    }
  } else if (const auto* const matrix = std::get_if<promql::Matrix>(&value)) {
    for (const promql::MatrixRow& row : matrix->rows) count += row.values.size();
  } else if (const auto* const scalar = std::get_if<promql::Scalar>(&value)) {
    count = scalar->values.size();
  }
  return count;
}

Error bad_expression(Error error) {
  if (error.code == Errc::kInvalidArgument || error.code == Errc::kTooLarge) {
    error.details = kBadExpression;
  }
  return error;
}

Result<promql::ExprPtr> parse_question(const PromqlQuestion& question, const QueryLimits& limits) {
  TRY(promql::ExprPtr expr, promql::parse(question.expression, parse_options(limits)));
  if (question.range && expr->type != promql::ValueType::kScalar &&
      expr->type != promql::ValueType::kVector) {
    return fail(Errc::kInvalidArgument,
                fmt::format("invalid expression type \"{}\" for range query, must be Scalar or "
                            "instant Vector",
                            promql::type_name(expr->type)));
  }
  const promql::Steps& steps = question.steps;
  TRY_VOID(promql::resolve_durations(*expr, question.range ? steps.step_ms : 0,
                                     question.end.value_or(steps.last()) - steps.begin));
  return expr;
}

// What is small enough for the threads of small queries: it takes a few milliseconds.
QueryLimits small_limits(QueryLimits limits) {
  constexpr std::uint64_t kSeries = 1024;
  constexpr std::uint64_t kPoints = 128 << 10;
  constexpr std::uint64_t kBytes = 8 << 20;
  constexpr std::int64_t kTimeMs = 100;
  limits.series_max = std::min(limits.series_max, kSeries);
  limits.points_max = std::min(limits.points_max, kPoints);
  limits.output_points_max = std::min(limits.output_points_max, kPoints);
  limits.bytes_max = std::min(limits.bytes_max, kBytes);
  limits.timeout_ms = limits.timeout_ms > 0 ? std::min(limits.timeout_ms, kTimeMs) : kTimeMs;
  return limits;
}

// What the evaluation of a query needs, at all of its steps or at some.
struct Evaluation {
  PromqlStores stores;
  std::shared_ptr<const PromqlQuestion> question;
  std::shared_ptr<const promql::Expr> expr;
  promql::EvaluationOptions options;
  std::shared_ptr<Kept> kept;
  std::shared_ptr<QueryBudget> budget;
};

struct Evaluated {
  PromqlAnswer answer;
  bool reads_counters = false;
};

// Without steps, an answer without values.
Task<Evaluated> evaluate_steps(const Evaluation* of, std::optional<promql::Steps> steps) {
  Evaluated evaluated;
  PromqlAnswer& answer = evaluated.answer;
  answer.type = of->expr->type;
  answer.value = promql::Vector();
  if (!steps) co_return evaluated;
  promql::Annotations annotations(of->question->expression);
  promql::Evaluator evaluator(*of->stores.points, of->budget, of->options, *steps, of->kept->texts,
                              annotations);
  auto evaluating = evaluator.evaluate(*of->expr);
  Result<promql::Value> value = co_await std::move(evaluating);
  std::ranges::move(evaluator.take_selections(), std::back_inserter(of->kept->selections));
  if (!value) co_return std::unexpected(value.error());
  answer.steps = *steps;
  answer.value = *std::move(value);
  answer.warnings = annotations.warnings();
  answer.infos = annotations.infos();
  answer.depends_on_all_steps = annotations.depend_on_all_steps();
  evaluated.reads_counters = evaluator.reads_counters();
  co_return evaluated;
}

// Null: the steps in the cache may have other infos than all steps. Then evaluate anew, without
// taking from it.
Task<std::shared_ptr<PromqlAnswer>> evaluate(Evaluation of, PromqlCache* cache, bool anew) {
  auto refreshing = of.stores.refresh();
  CO_TRY_VOID(co_await std::move(refreshing));
  const promql::Steps& steps = of.question->steps;
  PromqlCache::Use use =
      cache->look_up(*of.question, *of.expr, of.options.lookback_ms, *of.stores.points);
  if (anew) use.steps = 0;
  auto evaluating = evaluate_steps(&of, rest_of(steps, use));
  CO_TRY(Evaluated evaluated, co_await std::move(evaluating));
  if (use.steps > 0) {
    CO_TRY(const bool joined, join(use, steps, *of.budget, evaluated.answer));
    if (!joined) co_return nullptr;
    of.kept->cached_texts = use.kept->texts;
  }
  auto answer = std::make_shared<PromqlAnswer>(std::move(evaluated.answer));
  CO_TRY_VOID(of.budget->add_output_points(present_values(answer->value)));
  // Nothing tells which sums of counters changed.
  if (evaluated.reads_counters) use.key.clear();
  if (of.question->range) cache->keep(std::move(use), *answer);
  co_return answer;
}

}  // namespace

promql::ParseOptions parse_options(const QueryLimits& limits) {
  return {.bytes_max = limits.promql.bytes_max,
          .depth_max = limits.promql.depth_max,
          .regexps = storage::Regexps(limits.regexp_bytes_max),
          .experimental = limits.promql.experimental};
}

Task<std::shared_ptr<const PromqlAnswer>> run_promql(PromqlStores stores, PromqlCache* cache,
                                                     Scheduler* scheduler, PromqlQuestion question,
                                                     QueryLimits limits, RunContext context) {
  std::optional<SpanLog::Timed> timed(std::in_place, context.spans.get(), "parse");
  auto parsed = parse_question(question, limits);
  timed.reset();
  if (!parsed) co_return std::unexpected(bad_expression(std::move(parsed).error()));
  const std::shared_ptr<const promql::Expr> expr = *std::move(parsed);
  if (question.timeout_ms) {
    const std::int64_t timeout = *question.timeout_ms;
    if (timeout <= 0) co_return fail(Errc::kTimeout, "The query had no time");
    limits.timeout_ms = limits.timeout_ms > 0 ? std::min(limits.timeout_ms, timeout) : timeout;
  }
  const auto asked = std::make_shared<const PromqlQuestion>(std::move(question));
  bool anew = false;
  // Nothing tells how large a query is before it is read: it begins as a small one. Each attempt
  // but the last may tell that it has to begin again.
  for (const Pace pace : {Pace::kSmall, Pace::kAll, Pace::kAll}) {
    const bool small = pace == Pace::kSmall;
    const std::unique_ptr<SteppedRun> run =
        scheduler->begin_steps(small ? small_limits(limits) : limits, context);
    auto kept = std::make_shared<Kept>(run->budget()->limits().bytes_max);
    kept->expr = expr;
    Evaluation evaluation{
        .stores = stores,
        .question = asked,
        .expr = expr,
        .options = {.lookback_ms = asked->lookback_ms.value_or(limits.promql.lookback_ms),
                    .default_step_ms = limits.promql.default_step_ms,
                    .instant = !asked->range,
                    .end = asked->end.value_or(asked->steps.last()),
                    .counters = stores.counters},
        .kept = kept,
        .budget = run->budget()};
    auto evaluating = run->step(evaluate(std::move(evaluation), cache, anew), pace);
    Result<std::shared_ptr<PromqlAnswer>> answer = co_await std::move(evaluating);
    const bool exceeds = !answer && (answer.error().code == Errc::kTooLarge ||
                                     answer.error().code == Errc::kTimeout);
    const bool differs = answer && *answer == nullptr;
    anew |= differs;
    if ((small && exceeds) || differs) {
      run->repeated();
      // The client waits for both.
      if (limits.timeout_ms > 0) {
        const auto used = static_cast<std::int64_t>(run->budget()->cost().wall_ms);
        limits.timeout_ms = std::max<std::int64_t>(1, limits.timeout_ms - used);
      }
      continue;
    }
    if (!answer) co_return std::unexpected(answer.error());
    CO_TRY(kept->room, run->reserve());
    (*answer)->cost = run->budget()->cost();
    (*answer)->keeps = std::move(kept);
    run->succeeded();
    co_return *std::move(answer);
  }
  co_return fail(Errc::kInternal, "no attempt to answer the query ended");
}

}  // namespace halite::query
