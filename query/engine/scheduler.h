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
#include <string_view>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "common/clock.h"
#include "common/threads/gauge_guard.h"
#include "common/threads/semaphore.h"
#include "common/threads/task.h"
#include "query/answer.h"
#include "query/answer/answer_memory.h"
#include "query/engine/executors.h"
#include "query/engine/running_budgets.h"
#include "query/limits.h"
#include "query/query_budget.h"
#include "query/question.h"

namespace halite::query {

enum class Pace : std::uint8_t { kQuick, kSmall, kAll };

// One attempt to answer a query.
struct Attempt {
  Pace pace = Pace::kAll;
  std::shared_ptr<QueryBudget> budget;  // the budget of this attempt
};

// Metrics of query runs.
class RunStats {
 public:
  explicit RunStats(prometheus::Registry& registry);

  // Count a query as waiting, or as running, as long as the return value lives.
  [[nodiscard]] GaugeGuard waiting() { return GaugeGuard(waiting_); }
  [[nodiscard]] GaugeGuard running() { return GaugeGuard(running_); }

  // Counts a query that has ended. An attempt that is repeated is not an end.
  void end(const QueryCost& cost, std::string_view outcome);

 private:
  prometheus::Family<prometheus::Counter>& runs_;  // halite_query_runs_total, by outcome
  prometheus::Gauge& running_;                     // halite_query_running
  prometheus::Gauge& waiting_;                     // halite_query_waiting
  prometheus::Counter& points_read_;               // halite_query_points_read_total
  prometheus::Counter& points_out_;                // halite_query_points_out_total
  prometheus::Histogram& seconds_;                 // halite_query_run_seconds
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
  Task<std::shared_ptr<const Answer>> run(Question question, std::stop_token stop, bool repeatable,
                                          Work work);

  // Begins a query that runs in several steps, within its own limits. Its time starts now.
  [[nodiscard]] std::unique_ptr<SteppedRun> begin_steps(const QueryLimits& limits,
                                                        std::stop_token stop);

  // Reserves memory for an answer that no run() made. See AnswerMemory::take().
  [[nodiscard]] Result<std::shared_ptr<const AnswerReservation>> reserve(std::uint64_t bytes) {
    return answer_memory_.take(bytes);
  }

  [[nodiscard]] std::uint64_t running_bytes() const { return running_.bytes(); }
  [[nodiscard]] std::uint64_t answers_bytes() const { return answer_memory_.taken(); }

  // Runs one piece of work in its turn, on the executor for its pace.
  template <class T>
  Task<T> run_in_turn(Pace pace, Task<T> work) {
    auto waiting = wait_turn(pace);
    CO_TRY(const Semaphore::Permit pass, co_await std::move(waiting));
    auto done = boost::asio::co_spawn(pace == Pace::kSmall ? executors_.small : executors_.large,
                                      std::move(work), boost::asio::use_awaitable);
    Result<T> result = co_await std::move(done);
    co_return result;
  }

 private:
  using Answered = std::shared_ptr<const Answer>;

  // The budget's time starts here, before the wait for a turn.
  Task<Answered> start_attempt(Question question, std::stop_token stop, Pace pace, Work work);
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
