// Evaluates series at all steps of a query: at each step the newest sample, or the value of a
// function over a range. Takes samples in the order of time and keeps only those that later steps
// need.
//
//   Source   selectors and ranges as Prometheus evaluates them: docs/query/promql.md
//   Threads  Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
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
// t - offset, or `fixed_end` for all steps. Functions that extend it also get the samples `before`
// and `behind` it.
struct WindowPlan {
  Steps steps;
  std::int64_t offset_ms = 0;
  std::optional<TimestampMs> fixed_end;  // with @: the time less the offset
  std::int64_t range_ms = 1;             // > 0; of an instant selector: the lookback
  std::int64_t before_ms = 0;
  std::int64_t behind_ms = 0;
  // Null: an instant selector. Its value is the newest sample, none if that is a staleness marker.
  const RangeFunction* function = nullptr;
  std::vector<std::span<const double>> parameters;  // of the function: a value for each step
  bool sample_times = false;  // an instant selector: the value is the sample's time in seconds
  const WorkBudget* budget = nullptr;  // whose end stops the work early; null: nothing does

  [[nodiscard]] TimestampMs end_of(std::size_t step) const {
    return fixed_end ? *fixed_end : steps.at(step) - offset_ms;
  }
  // The samples of a step are behind this time.
  [[nodiscard]] TimestampMs begin_of(std::size_t step) const {
    return end_of(step) - range_ms - before_ms;
  }
  // The samples that any step needs.
  [[nodiscard]] TimeRange range() const {
    return {.begin = begin_of(0) + 1, .end = end_of(steps.count - 1) + behind_ms + 1};
  }
};

struct Samples {
  std::vector<TimestampMs> times;  // ascending
  std::vector<double> values;

  [[nodiscard]] std::size_t size() const { return times.size(); }
};

// How far a series is evaluated, and the samples that its next steps need.
struct SeriesProgress {
  Samples samples;
  std::size_t step = 0;  // the next one

  [[nodiscard]] std::size_t bytes() const {  // of samples
    return samples.times.capacity() * sizeof(TimestampMs) +
           samples.values.capacity() * sizeof(double);
  }
};

// For any number of series, one call at a time.
class SeriesWindows {
 public:
  // The plan outlives it.
  explicit SeriesWindows(const WindowPlan& plan)
      : plan_(&plan), may_shift_(may_shift(plan)), parameters_(plan.parameters.size()) {}

  // Samples after those before, in plan.range(). Writes to `column`, which has a place for each
  // step, the values of all steps whose samples are known now: a value or kAbsent for each step
  // from the one before the call up to series.step. The budget's end leaves steps out, which the
  // caller will see, too.
  void add(SeriesProgress& series, const storage::Block& block, std::span<double> column);
  // Samples that are none of a store's: those of a subquery. None is a staleness marker.
  void add(SeriesProgress& series, const Samples& samples, std::span<double> column);
  // There are no more samples.
  void finish(SeriesProgress& series, std::span<double> column);

 private:
  // Whether windows of this plan can be evaluated together.
  [[nodiscard]] static bool may_shift(const WindowPlan& plan);
  template <class Append>
  void add_some(SeriesProgress& series, std::size_t count, std::span<double> column, Append append);
  // Returns the first sample that later steps need. `known`: the samples up to and including this
  // time are there.
  std::size_t evaluate_until(TimestampMs known, const Samples& samples, std::size_t& step,
                             std::span<double> column);
  [[nodiscard]] Window window_of(const Samples& samples, std::size_t step);
  // The value of the samples from first_ up to behind_, which are some, at a step.
  [[nodiscard]] double evaluate(const Samples& samples, std::size_t step);
  // How many steps from this one on have windows that are shifted, so that they can be evaluated
  // together: 1 if it is this one only. A reset of a counter among the samples makes it 1, too.
  [[nodiscard]] std::size_t shifted_steps(TimestampMs known, const Samples& samples,
                                          std::size_t step);
  void evaluate_shifted(const Samples& samples, std::size_t step, std::span<double> values);
  void find_run(std::span<const TimestampMs> times);
  void find_resets(const Samples& samples);
  [[nodiscard]] bool may_go_on();

  const WindowPlan* plan_;
  const bool may_shift_;
  Samples scratch_;
  std::size_t first_ = 0;             // of the samples: the first one of the window
  std::size_t behind_ = 0;            // the first one behind the window
  std::vector<CounterReset> resets_;  // of functions that want counters
  // Samples at equal distances, from first_ or a place before it on.
  struct Run {
    std::size_t end = 0;
    std::int64_t distance = 0;
    std::size_t shift = 0;  // samples between two steps; 0: not a whole number
  };
  Run run_;
  Extrapolation extrapolation_;
  std::vector<double> parameters_;
  std::size_t work_ = 0;  // samples in windows since the budget was checked
};

}  // namespace halite::query::promql
