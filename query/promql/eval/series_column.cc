#include "query/promql/eval/series_column.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace halite::query::promql {

SeriesColumn::SeriesColumn(const ColumnPlan& plan)
    : plan_(plan), column_(plan.steps.count, kAbsent), parameters_(plan.parameters.size()) {}

void SeriesColumn::add(const storage::Block& block) {
  const bool keeps_markers = plan_.function == nullptr;
  times_.reserve(times_.size() + block.size());
  values_.reserve(values_.size() + block.size());
  for (std::size_t i = 0; i < block.size(); ++i) {
    const ValueBits bits = block.values[i];
    if (!block.floats[i]) {
      values_.push_back(static_cast<double>(as_integer(bits)));
    } else if (bits == kStaleMarker && !keeps_markers) {
      continue;
    } else {
      values_.push_back(as_double(bits));
    }
    times_.push_back(block.times[i]);
  }
  if (!block.times.empty()) evaluate_until(block.times.back());
}

void SeriesColumn::add(std::span<const TimestampMs> times, std::span<const double> values) {
  times_.insert(times_.end(), times.begin(), times.end());
  values_.insert(values_.end(), values.begin(), values.end());
  if (!times.empty()) evaluate_until(times.back());
}

std::vector<double> SeriesColumn::finish() {
  evaluate_until(std::numeric_limits<TimestampMs>::max());
  return std::move(column_);
}

void SeriesColumn::evaluate_until(TimestampMs known) {
  while (step_ < plan_.steps.count && plan_.end_of(step_) <= known) {
    evaluate(step_++);
    if (!plan_.fixed_end) continue;
    // With @ the window is the same at all steps. The value is, too, unless it depends on the time
    // or on a parameter.
    if (plan_.function != nullptr && !plan_.parameters.empty()) continue;
    std::fill(column_.begin() + static_cast<std::ptrdiff_t>(step_), column_.end(),
              column_[step_ - 1]);
    step_ = plan_.steps.count;
  }
  forget();
}

void SeriesColumn::evaluate(std::size_t step) {
  const TimestampMs end = plan_.end_of(step);
  const TimestampMs begin = end - plan_.range_ms;
  while (behind_ < times_.size() && times_[behind_] <= end) ++behind_;
  while (first_ < behind_ && times_[first_] <= begin) ++first_;
  if (first_ == behind_) return;
  double& value = column_[step];
  if (plan_.function == nullptr) {
    value = values_[behind_ - 1];
    if (plan_.sample_times && is_present(value)) {
      value = static_cast<double>(times_[behind_ - 1]) / 1000;
    }
  } else {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i] = plan_.parameters[i][step];
    }
    const Window window{.times = times_.data() + first_,
                        .values = values_.data() + first_,
                        .size = behind_ - first_,
                        .begin = begin,
                        .end = end,
                        .now = plan_.steps.at(step)};
    value = plan_.function->evaluate(window, parameters_);
  }
  has_values_ |= is_present(value);
}

// Drops samples that no later step needs, once they are most of those that are kept.
void SeriesColumn::forget() {
  if (step_ == plan_.steps.count) {
    times_.clear();
    values_.clear();
    first_ = behind_ = 0;
    return;
  }
  const TimestampMs begin = plan_.end_of(step_) - plan_.range_ms;
  while (first_ < times_.size() && times_[first_] <= begin) ++first_;
  behind_ = std::max(first_, behind_);
  if (first_ < times_.size() / 2) return;
  const auto gone = static_cast<std::ptrdiff_t>(first_);
  times_.erase(times_.begin(), times_.begin() + gone);
  values_.erase(values_.begin(), values_.begin() + gone);
  behind_ -= std::exchange(first_, 0);
}

}  // namespace halite::query::promql
