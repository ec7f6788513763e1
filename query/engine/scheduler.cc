#include "query/engine/scheduler.h"

#include <chrono>
#include <string>

#include <fmt/format.h>

#include "common/metrics.h"
#include "query/engine/small_query.h"
#include "query/engine/stepped_run.h"

namespace halite::query {
namespace {

bool exceeds_limits(const Error& error) { return error.code == Errc::kTooLarge; }

// Whether an attempt with this error is repeated at another pace.
bool tries_again(Pace pace, const Error& error) {
  switch (pace) {
    case Pace::kQuick:
      return error.code != Errc::kInvalidArgument && error.code != Errc::kNotFound &&
             error.code != Errc::kCancelled && error.code != Errc::kOverloaded;
    case Pace::kSmall:
      return exceeds_limits(error);
    case Pace::kAll:
      break;
  }
  return false;
}

std::shared_ptr<Semaphore> semaphore_for(const QueryLimits& limits) {
  return std::make_shared<Semaphore>(SemaphoreLoad{.items = limits.running_max, .bytes = 0});
}

}  // namespace

RunStats::RunStats(prometheus::Registry& registry)
    : runs_(counter_family(registry, "halite_query_runs_total", "Queries completed, by outcome.",
                           {"outcome"})),
      running_(add_gauge(registry, "halite_query_running", "Queries running.")),
      waiting_(add_gauge(registry, "halite_query_waiting",
                         "Queries waiting in the queue because of query.running_max.")),
      points_read_(add_counter(registry, "halite_query_points_read_total",
                               "Stored points read by queries.")),
      points_out_(
          add_counter(registry, "halite_query_points_out_total", "Points returned by queries.")),
      seconds_(add_histogram(registry, "halite_query_run_seconds", "Time from query to answer.",
                             {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100})) {}

void RunStats::end(const QueryCost& cost, std::string_view outcome) {
  runs_.Add({{"outcome", std::string(outcome)}}).Increment();
  points_read_.Increment(static_cast<double>(cost.points_read));
  points_out_.Increment(static_cast<double>(cost.points_out));
  seconds_.Observe(cost.wall_ms / 1000);
}

Scheduler::Scheduler(const QueryLimits& limits, QueryExecutors executors, const Clock& clock,
                     prometheus::Registry& registry)
    : limits_(limits),
      executors_(std::move(executors)),
      clock_(clock),
      answer_memory_(limits.answers_bytes_max),
      stats_(registry),
      turns_(semaphore_for(limits)),
      small_turns_(semaphore_for(limits)) {}

Task<Scheduler::Answered> Scheduler::run(Question question, RunContext context, bool repeatable,
                                         Work work) {
  using enum Pace;
  if (repeatable && may_be_small(question)) {
    auto trying = start_attempt(question, context, kQuick, work);
    Result<Answered> quick = co_await std::move(trying);
    if (quick || !tries_again(kQuick, quick.error())) co_return quick;
    if (!exceeds_limits(quick.error())) {
      auto trying_small =
          run_in_turn(kSmall, start_attempt(question, context, kSmall, work), context.spans);
      Result<Answered> small = co_await std::move(trying_small);
      if (small || !tries_again(kSmall, small.error())) co_return small;
    }
  }
  std::shared_ptr<SpanLog> spans = context.spans;
  auto running = run_in_turn(
      kAll, start_attempt(std::move(question), std::move(context), kAll, std::move(work)),
      std::move(spans));
  Result<Answered> answer = co_await std::move(running);
  co_return answer;
}

Task<Scheduler::Answered> Scheduler::start_attempt(Question question, RunContext context, Pace pace,
                                                   Work work) {
  auto budget = std::make_shared<QueryBudget>(
      pace == Pace::kAll ? limits_ : small_query_limits(question, limits_), clock_,
      std::move(context));
  return finish(std::move(question), {.pace = pace, .budget = std::move(budget)}, std::move(work));
}

Task<Scheduler::Answered> Scheduler::finish(Question question, Attempt attempt, Work work) {
  const GaugeGuard one = stats_.running();
  const std::shared_ptr<QueryBudget> budget = attempt.budget;
  const RunningBudgets::Entry counted(running_, *budget);
  const Pace pace = attempt.pace;
  auto answered = std::make_shared<Answer>();
  answered->question = std::move(question);
  auto working = work(answered.get(), std::move(attempt));
  Result<void> outcome = co_await std::move(working);
  if (!outcome && tries_again(pace, outcome.error())) co_return std::unexpected(outcome.error());
  answered->cost = budget->cost();
  // The points are deleted, so the answer is always sent.
  if (outcome && !answered->question.delete_points) {
    auto room = answer_memory_.take(answer_bytes(*answered));
    if (room) {
      answered->room = *std::move(room);
    } else {
      outcome = std::unexpected(room.error());
    }
  }
  stats_.end(answered->cost, outcome ? "ok" : errc_name(outcome.error().code));
  if (outcome) co_return answered;
  Error error = outcome.error();
  // OpenTSDB's error object repeats the message of errors during a run, except for limits.
  if (error.details.empty() && error.code != Errc::kTooLarge) error.details = error.message;
  co_return std::unexpected(std::move(error));
}

std::unique_ptr<SteppedRun> Scheduler::begin_steps(const QueryLimits& limits, RunContext context) {
  return std::make_unique<SteppedRun>(
      *this, stats_, running_, std::make_shared<QueryBudget>(limits, clock_, std::move(context)));
}

Task<Semaphore::Permit> Scheduler::wait_turn(Pace pace) {
  const GaugeGuard one = stats_.waiting();
  Semaphore& gate = pace == Pace::kSmall ? *small_turns_ : *turns_;
  auto entering = gate.enter({.items = 1, .bytes = 0}, std::chrono::milliseconds(limits_.queue_ms));
  Result<Semaphore::Permit> pass = co_await std::move(entering);
  if (pass || pass.error().code != Errc::kOverloaded) co_return pass;
  co_return fail(
      Errc::kOverloaded,
      fmt::format("{} queries are running (query.running_max), and this query waited {} ms in the "
                  "queue (query.queue_ms); try again later, or raise those settings",
                  limits_.running_max, limits_.queue_ms));
}

}  // namespace halite::query
