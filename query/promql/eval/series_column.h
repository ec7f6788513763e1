// Makes one column of the samples of a series: at each step the newest sample, or the value of a
// function over a range. Takes samples in the order of time and keeps only those that later steps
// need.
//
//   Source   selectors and ranges as Prometheus evaluates them: docs/promql.md
//   Threads  Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/clock.h"
#include "query/promql/eval/range_functions.h"
#include "query/promql/eval/values.h"
#include "storage/api/point_store.h"

namespace halite::query::promql {

// What a column's values are. At a step t the window is (end - range, end], where end is t - offset,
// or `fixed_end` for all steps.
struct ColumnPlan {
  Steps steps;
  std::int64_t offset_ms = 0;
  std::optional<TimestampMs> fixed_end;  // with @: the time less the offset
  std::int64_t range_ms = 1;             // > 0; of an instant selector: the lookback
  // Null: an instant selector. Its value is the newest sample, none if that is a staleness marker.
  const RangeFunction* function = nullptr;
  std::vector<std::span<const double>> parameters;  // of the function: a value for each step
  bool sample_times = false;  // an instant selector: the value is the sample's time in seconds

  [[nodiscard]] TimestampMs end_of(std::size_t step) const {
    return fixed_end ? *fixed_end : steps.at(step) - offset_ms;
  }
  // The samples that any step needs.
  [[nodiscard]] TimeRange range() const {
    return {.begin = end_of(0) - range_ms + 1, .end = end_of(steps.count - 1) + 1};
  }
};

class SeriesColumn {
 public:
  // The plan outlives it.
  explicit SeriesColumn(const ColumnPlan& plan);

  // Samples after those before, in plan.range().
  void add(const storage::Block& block);
  // Samples that are none of a store's: those of a subquery. None is a staleness marker.
  void add(std::span<const TimestampMs> times, std::span<const double> values);
  // Ends the samples. Returns the column; has_values() tells whether it has any value.
  [[nodiscard]] std::vector<double> finish();
  [[nodiscard]] bool has_values() const { return has_values_; }

  [[nodiscard]] std::size_t bytes() const {  // of samples
    return times_.capacity() * (sizeof(TimestampMs) + sizeof(double));
  }

 private:
  void evaluate_until(TimestampMs known);  // samples up to and including this time are there
  void evaluate(std::size_t step);
  void forget();

  const ColumnPlan& plan_;
  std::vector<double> column_;
  std::vector<TimestampMs> times_;
  std::vector<double> values_;
  std::size_t first_ = 0;   // of the samples: the first one of the window
  std::size_t behind_ = 0;  // the first one behind the window
  std::size_t step_ = 0;    // the next one
  std::vector<double> parameters_;
  bool has_values_ = false;
};

}  // namespace halite::query::promql
