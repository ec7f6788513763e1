// Evaluates a series at all steps of a query: at each step the newest sample, or the value of a
// function over a range. Takes samples in the order of time and keeps only those that later steps
// need.
//
//   Source   selectors and ranges as Prometheus evaluates them: docs/query/promql.md
//   Threads  Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "common/clock.h"
#include "common/threads/work_budget.h"
#include "query/promql/eval/range_functions.h"
#include "query/promql/eval/values.h"
#include "storage/api/point_store.h"

namespace halite::query::promql {

// What the values of series are. At a step t the window is (end - range, end], where end is
// t - offset, or `fixed_end` for all steps.
struct WindowPlan {
  Steps steps;
  std::int64_t offset_ms = 0;
  std::optional<TimestampMs> fixed_end;  // with @: the time less the offset
  std::int64_t range_ms = 1;             // > 0; of an instant selector: the lookback
  // Null: an instant selector. Its value is the newest sample, none if that is a staleness marker.
  const RangeFunction* function = nullptr;
  std::vector<std::span<const double>> parameters;  // of the function: a value for each step
  bool sample_times = false;  // an instant selector: the value is the sample's time in seconds
  const WorkBudget* budget = nullptr;  // whose end stops the work early; null: nothing does

  [[nodiscard]] TimestampMs end_of(std::size_t step) const {
    return fixed_end ? *fixed_end : steps.at(step) - offset_ms;
  }
  // The samples that any step needs.
  [[nodiscard]] TimeRange range() const {
    return {.begin = end_of(0) - range_ms + 1, .end = end_of(steps.count - 1) + 1};
  }
};

class SeriesWindows {
 public:
  // The plan outlives it.
  explicit SeriesWindows(const WindowPlan& plan)
      : plan_(&plan), parameters_(plan.parameters.size()) {}

  // Samples after those before, in plan.range(). Calls put(step, value) for each step whose samples
  // are known now and that has a value.
  template <class Put>
  void add(const storage::Block& block, Put put) {
    take(block);
    if (!block.times.empty()) evaluate_until(block.times.back(), put);
  }
  // Samples that are none of a store's: those of a subquery. None is a staleness marker.
  template <class Put>
  void add(std::span<const TimestampMs> times, std::span<const double> values, Put put) {
    const std::size_t before = values_.size();
    times_.insert(times_.end(), times.begin(), times.end());
    values_.insert(values_.end(), values.begin(), values.end());
    note_resets(before);
    if (!times.empty()) evaluate_until(times.back(), put);
  }
  // There are no more samples.
  template <class Put>
  void finish(Put put) {
    evaluate_until(std::numeric_limits<TimestampMs>::max(), put);
  }

  [[nodiscard]] std::size_t bytes() const {  // of samples
    return times_.capacity() * (sizeof(TimestampMs) + sizeof(double));
  }

 private:
  void take(const storage::Block& block);
  // Notes the resets among the samples from `from` on.
  void note_resets(std::size_t from);
  // The value at the next step, or kAbsent.
  [[nodiscard]] double evaluate();
  // Drops samples that no later step needs.
  void forget();
  // False: the budget has come to its end, which the caller will see, too.
  [[nodiscard]] bool may_go_on() {
    constexpr std::size_t kSamplesBetweenChecks = 1 << 20;
    work_ += behind_ - first_ + 1;
    if (work_ < kSamplesBetweenChecks || plan_->budget == nullptr) return true;
    work_ = 0;
    return plan_->budget->check().has_value();
  }

  // `known`: the samples up to and including this time are there.
  template <class Put>
  void evaluate_until(TimestampMs known, Put put) {
    while (step_ < plan_->steps.count && plan_->end_of(step_) <= known && may_go_on()) {
      const double value = evaluate();
      const bool same = plan_->fixed_end && plan_->parameters.empty();
      // With @ the window is the same at all steps, so that the value is, too, unless it depends
      // on the time or on a parameter.
      const std::size_t until = same ? plan_->steps.count : step_ + 1;
      for (; step_ < until; ++step_) {
        if (is_present(value)) put(step_, value);
      }
    }
    forget();
  }

  const WindowPlan* plan_;
  std::vector<TimestampMs> times_;
  std::vector<double> values_;
  std::size_t first_ = 0;             // of the samples: the first one of the window
  std::size_t behind_ = 0;            // the first one behind the window
  std::size_t step_ = 0;              // the next one
  std::vector<CounterReset> resets_;  // of functions that want counters; places in values_
  std::size_t work_ = 0;              // samples in windows since the budget was checked
  std::vector<double> parameters_;
};

}  // namespace halite::query::promql
