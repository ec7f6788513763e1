// The budgets of running queries, to see what all of them use.
//
//   Threads  call from any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <set>

#include "query/query_budget.h"

namespace halite::query {

class RunningBudgets {
 public:
  // `budget` counts while the return value lives, which must not outlive it.
  class Entry {
   public:
    Entry(RunningBudgets& all, const QueryBudget& budget) : all_(all), budget_(budget) {
      const std::lock_guard lock(all_.mutex_);
      all_.budgets_.insert(&budget_);
    }
    ~Entry() {
      const std::lock_guard lock(all_.mutex_);
      all_.budgets_.erase(&budget_);
    }
    Entry(const Entry&) = delete;

   private:
    RunningBudgets& all_;
    const QueryBudget& budget_;
  };

  // Their memory together.
  [[nodiscard]] std::uint64_t bytes() const {
    const std::lock_guard lock(mutex_);
    std::int64_t bytes = 0;
    for (const QueryBudget* const budget : budgets_) bytes += budget->bytes();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
  }

 private:
  mutable std::mutex mutex_;
  std::set<const QueryBudget*> budgets_;  // guarded by mutex_
};

}  // namespace halite::query
