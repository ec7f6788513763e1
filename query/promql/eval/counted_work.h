// What a step of an evaluation needs beside its input and its result, for the budget of the query.
// Its end releases the memory that it counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "common/result.h"
#include "common/threads/work_budget.h"

namespace halite::query::promql {

class CountedWork {
 public:
  explicit CountedWork(WorkBudget& budget) : budget_(budget) {}
  ~CountedWork() { std::ignore = budget_.add_bytes(-bytes_); }
  CountedWork(const CountedWork&) = delete;
  CountedWork& operator=(const CountedWork&) = delete;

  // That so many values are looked at. Checks the budget now and then.
  [[nodiscard]] Result<void> values(std::size_t count) {
    constexpr std::size_t kBetweenChecks = 1 << 20;
    values_ += count;
    if (values_ < kBetweenChecks) return {};
    values_ = 0;
    return budget_.check();
  }
  // That so many bytes will be allocated. They count even if they are too many.
  [[nodiscard]] Result<void> bytes(std::size_t count) {
    bytes_ += static_cast<std::int64_t>(count);
    return budget_.add_bytes(static_cast<std::int64_t>(count));
  }

 private:
  WorkBudget& budget_;
  std::int64_t bytes_ = 0;
  std::size_t values_ = 0;  // since the last check
};

}  // namespace halite::query::promql
