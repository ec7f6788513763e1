// A WorkBudget whose limits a test sets, and which says stop after a number of questions.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "common/threads/work_budget.h"

namespace halite::test {

class TestBudget final : public WorkBudget {
 public:
  // Change them before the work begins.
  std::uint64_t series_max = std::numeric_limits<std::uint64_t>::max();
  std::int64_t bytes_max = std::numeric_limits<std::int64_t>::max();

  void stop_after(int checks) { left_ = checks; }
  void stop() { left_ = 0; }

  [[nodiscard]] int checks() const { return checks_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  [[nodiscard]] Result<void> check() const override {
    ++checks_;
    if (left_.fetch_sub(1) > 0) return {};
    left_ = 0;
    return fail(Errc::kCancelled, "the test stopped it");
  }
  [[nodiscard]] Result<void> check_series(std::uint64_t more) const override {
    if (more <= series_max) return {};
    return fail(Errc::kTooLarge, "too many series for the test");
  }
  [[nodiscard]] Result<void> add_bytes(std::int64_t count) override {
    if ((bytes_ += count) <= bytes_max) return {};
    return fail(Errc::kTooLarge, "too many bytes for the test");
  }

 private:
  mutable std::atomic<int> left_ = std::numeric_limits<int>::max();
  mutable std::atomic<int> checks_ = 0;
  std::atomic<std::int64_t> bytes_ = 0;
};

}  // namespace halite::test
