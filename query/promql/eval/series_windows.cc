#include "query/promql/eval/series_windows.h"

#include <algorithm>
#include <utility>

namespace halite::query::promql {

void SeriesWindows::take(const storage::Block& block) {
  const bool keeps_markers = plan_->function == nullptr;
  const std::size_t before = values_.size();
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
  note_resets(before);
}

void SeriesWindows::note_resets(std::size_t from) {
  if (plan_->function == nullptr || !plan_->function->wants_counter) return;
  for (std::size_t i = std::max<std::size_t>(1, from); i < values_.size(); ++i) {
    if (values_[i] < values_[i - 1]) resets_.push_back({.place = i, .before = values_[i - 1]});
  }
}

double SeriesWindows::evaluate() {
  const TimestampMs end = plan_->end_of(step_);
  const TimestampMs begin = end - plan_->range_ms;
  while (behind_ < times_.size() && times_[behind_] <= end) ++behind_;
  while (first_ < behind_ && times_[first_] <= begin) ++first_;
  if (first_ == behind_) return kAbsent;
  if (plan_->function == nullptr) {
    const double newest = values_[behind_ - 1];
    if (!plan_->sample_times || is_absent(newest)) return newest;
    return static_cast<double>(times_[behind_ - 1]) / 1000;
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i] = plan_->parameters[i][step_];
  }
  Window window{.times = times_.data() + first_,
                .values = values_.data() + first_,
                .size = behind_ - first_,
                .begin = begin,
                .end = end,
                .now = plan_->steps.at(step_)};
  if (plan_->function->wants_counter) {
    const auto begins = std::ranges::upper_bound(resets_, first_, {}, &CounterReset::place);
    const auto ends =
        std::ranges::lower_bound(begins, resets_.end(), behind_, {}, &CounterReset::place);
    window.resets.emplace(begins, ends);
  }
  return plan_->function->evaluate(window, parameters_);
}

void SeriesWindows::forget() {
  if (step_ == plan_->steps.count) {
    times_.clear();
    values_.clear();
    resets_.clear();
    first_ = behind_ = 0;
    return;
  }
  const TimestampMs begin = plan_->end_of(step_) - plan_->range_ms;
  while (first_ < times_.size() && times_[first_] <= begin) ++first_;
  behind_ = std::max(first_, behind_);
  // Moves the rest only once it is the smaller part.
  if (first_ < times_.size() / 2) return;
  std::erase_if(resets_, [this](const CounterReset& reset) { return reset.place <= first_; });
  for (CounterReset& reset : resets_) reset.place -= first_;
  const auto gone = static_cast<std::ptrdiff_t>(first_);
  times_.erase(times_.begin(), times_.begin() + gone);
  values_.erase(values_.begin(), values_.begin() + gone);
  behind_ -= std::exchange(first_, 0);
}

}  // namespace halite::query::promql
