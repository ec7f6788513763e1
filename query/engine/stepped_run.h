// A query that runs in several steps, each in its turn and on a query thread (scheduler.h). Its
// budget is one for all steps. It counts as running, in metrics and memory, while it lives.
//
//   Threads  one step at a time, from any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "common/threads/gauge_guard.h"
#include "common/threads/task.h"
#include "query/engine/running_budgets.h"
#include "query/engine/scheduler.h"
#include "query/query_budget.h"

namespace halite::query {

class SteppedRun {
 public:
  // All references outlive it. Call Scheduler::begin_steps().
  SteppedRun(Scheduler& scheduler, RunStats& stats, RunningBudgets& running,
             std::shared_ptr<QueryBudget> budget)
      : scheduler_(scheduler),
        stats_(stats),
        budget_(std::move(budget)),
        counted_(running, *budget_),
        one_(stats.running()) {}
  ~SteppedRun() {
    if (!repeated_) stats_.end(budget_->cost(), outcome_);
  }
  SteppedRun(const SteppedRun&) = delete;

  [[nodiscard]] const std::shared_ptr<QueryBudget>& budget() const { return budget_; }

  // After an error, take no further step.
  template <class T>
  Task<T> step(Task<T> work, Pace pace = Pace::kAll) {
    auto running = scheduler_.run_in_turn(pace, std::move(work), budget_->spans());
    Result<T> result = co_await std::move(running);
    if (!result) outcome_ = errc_name(result.error().code);
    co_return result;
  }

  // Reserves memory for the answer, as much as the budget has counted. After an error the run has
  // failed.
  Result<std::shared_ptr<const AnswerReservation>> reserve() {
    const std::int64_t bytes = std::max<std::int64_t>(0, budget_->bytes());
    auto room = scheduler_.reserve(static_cast<std::uint64_t>(bytes));
    if (!room) outcome_ = errc_name(room.error().code);
    return room;
  }

  // The last step was taken. A run that ends otherwise was cancelled.
  void succeeded() { outcome_ = "ok"; }
  // Another run follows in the place of this one, which is not an end of the query.
  void repeated() { repeated_ = true; }

 private:
  Scheduler& scheduler_;
  RunStats& stats_;
  const std::shared_ptr<QueryBudget> budget_;
  const RunningBudgets::Entry counted_;
  const GaugeGuard one_;
  std::string_view outcome_ = errc_name(Errc::kCancelled);
  bool repeated_ = false;
};

}  // namespace halite::query
