// Decides where a query runs, within which limits, and when.
//
// A query starts at the first pace that may suffice. If an attempt fails, it starts again at the
// next one:
//   kQuick  On the caller's executor, from memory alone, within small_query_limits(). Only for a
//           query that looks small (small_query.h).
//   kSmall  On the executor for small queries, within those limits. Only if kQuick needs data that
//           is not in memory.
//   kAll    On the executor for large queries, within QueryLimits. For all that exceeds the small
//           limits.
//
//   Order    kSmall and kAll run query.running_max queries each. Others wait for their turn, first
//            come, first served, for at most query.queue_ms; then kOverloaded.
//   Memory   An answer counts against query.answers_bytes_max during its lifetime.
//   Threads  Call from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <prometheus/registry.h>

#include "common/clock.h"
#include "common/threads/semaphore.h"
#include "common/threads/task.h"
#include "query/answer.h"
#include "query/answer/answer_memory.h"
#include "query/engine/executors.h"
#include "query/engine/run_stats.h"
#include "query/engine/running_budgets.h"
#include "query/limits.h"
#include "query/query_budget.h"
#include "query/question.h"
#include "query/run_context.h"

namespace halite::query {

enum class Pace : std::uint8_t { kQuick, kSmall, kAll };

// One attempt to answer a query.
struct Attempt {
  Pace pace = Pace::kAll;
  std::shared_ptr<QueryBudget> budget;  // the budget of this attempt
};

class SteppedRun;  // query/engine/stepped_run.h

class Scheduler {
 public:
  // All references outlive it.
  Scheduler(const QueryLimits& limits, QueryExecutors executors, const Clock& clock,
            prometheus::Registry& registry);

  // Fills in the answer to `answer->question`.
  using Work = std::function<Task<void>(Answer* answer, Attempt attempt)>;

  // Runs `work` until an attempt succeeds, or fails with an error that another one would repeat.
  // Work that is not `repeatable` has one attempt, kAll.
  Task<std::shared_ptr<const Answer>> run(Question question, RunContext context, bool repeatable,
                                          Work work);

  // Begins a query that runs in several steps, within its own limits. Its time starts now.
  [[nodiscard]] std::unique_ptr<SteppedRun> begin_steps(const QueryLimits& limits,
                                                        RunContext context);

  // Reserves memory for an answer that no run() made. See AnswerMemory::take().
  [[nodiscard]] Result<std::shared_ptr<const AnswerReservation>> reserve(std::uint64_t bytes) {
    return answer_memory_.take(bytes);
  }

  [[nodiscard]] std::uint64_t running_bytes() const { return running_.bytes(); }
  [[nodiscard]] std::uint64_t answers_bytes() const { return answer_memory_.taken(); }

  // Runs one piece of work in its turn, on the executor for its pace.
  // The time until it begins is the step "queue" in `spans`, which may be null.
  template <class T>
  Task<T> run_in_turn(Pace pace, Task<T> work, std::shared_ptr<SpanLog> spans) {
    auto queued = std::make_unique<QueuedTime>(std::move(spans));
    auto waiting = wait_turn(pace);
    CO_TRY(const Semaphore::Permit pass, co_await std::move(waiting));
    auto done = boost::asio::co_spawn(pace == Pace::kSmall ? executors_.small : executors_.large,
                                      begin_turn(std::move(work), std::move(queued)),
                                      boost::asio::use_awaitable);
    Result<T> result = co_await std::move(done);
    co_return result;
  }

 private:
  using Answered = std::shared_ptr<const Answer>;

  struct QueuedTime {
    explicit QueuedTime(std::shared_ptr<SpanLog> log)
        : spans(std::move(log)), timed(spans.get(), "queue") {}
    const std::shared_ptr<SpanLog> spans;
    const SpanLog::Timed timed;
  };

  template <class T>
  static Task<T> begin_turn(Task<T> work, std::unique_ptr<QueuedTime> queued) {
    queued.reset();
    co_return co_await std::move(work);
  }

  // The budget's time starts here, before the wait for a turn.
  Task<Answered> start_attempt(Question question, RunContext context, Pace pace, Work work);
  Task<Answered> finish(Question question, Attempt attempt, Work work);
  Task<Semaphore::Permit> wait_turn(Pace pace);

  const QueryLimits& limits_;
  const QueryExecutors executors_;
  const Clock& clock_;
  AnswerMemory answer_memory_;
  RunStats stats_;
  RunningBudgets running_;
  const std::shared_ptr<Semaphore> turns_;
  const std::shared_ptr<Semaphore> small_turns_;
};

}  // namespace halite::query
