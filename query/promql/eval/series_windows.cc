#include "query/promql/eval/series_windows.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace halite::query::promql {
namespace {

void append_values(std::vector<double>& to, const storage::Block& block) {
  const std::size_t before = to.size();
  to.resize(before + block.size());
  double* const values = to.data() + before;
  if (block.floats.none()) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      values[i] = static_cast<double>(as_integer(block.values[i]));
    }
    return;
  }
  for (std::size_t i = 0; i < block.size(); ++i) values[i] = as_double(block.values[i]);
  if (block.floats.count() == block.size()) return;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (!block.floats[i]) values[i] = static_cast<double>(as_integer(block.values[i]));
  }
}

// From the place `from` on.
void erase_markers(Samples& samples, std::size_t from) {
  std::size_t marked = 0;
  for (std::size_t i = from; i < samples.size(); ++i)
    marked += is_absent(samples.values[i]) ? 1 : 0;
  if (marked == 0) return;
  std::size_t to = from;
  for (std::size_t i = from; i < samples.size(); ++i) {
    if (is_absent(samples.values[i])) continue;
    samples.times[to] = samples.times[i];
    samples.values[to++] = samples.values[i];
  }
  samples.times.resize(to);
  samples.values.resize(to);
}

void erase_front(Samples& samples, std::size_t count) {
  const auto gone = static_cast<std::ptrdiff_t>(count);
  samples.times.erase(samples.times.begin(), samples.times.begin() + gone);
  samples.values.erase(samples.values.begin(), samples.values.begin() + gone);
}

// The first place from `at` on whose time is behind `time`. Few are skipped mostly, so that it
// looks nearby first.
std::size_t skip_until(std::span<const TimestampMs> times, std::size_t at, TimestampMs time) {
  constexpr std::size_t kNear = 8;
  const std::size_t near_end = std::min(times.size(), at + kNear);
  while (at < near_end && times[at] <= time) ++at;
  if (at < near_end || at == times.size()) return at;
  std::size_t step = kNear;
  while (at + step < times.size() && times[at + step] <= time) {
    at += step;
    step *= 2;
  }
  const std::span<const TimestampMs> rest = times.subspan(at, std::min(step, times.size() - at));
  return at + static_cast<std::size_t>(std::ranges::upper_bound(rest, time) - rest.begin());
}

// The samples from the place `first` on, and no more memory than they need.
void copy_rest(const Samples& from, std::size_t first, Samples& to) {
  constexpr std::size_t kSpareParts = 2;
  const std::size_t count = from.size() - first;
  if (to.times.capacity() > kSpareParts * count) to = Samples();
  const auto begin = static_cast<std::ptrdiff_t>(first);
  to.times.assign(from.times.begin() + begin, from.times.end());
  to.values.assign(from.values.begin() + begin, from.values.end());
}

}  // namespace

template <class Append>
void SeriesWindows::add_some(SeriesProgress& series, std::size_t count, std::span<double> column,
                             Append append) {
  if (count == 0 || series.step == plan_->steps.count) return;
  // Where more is kept than comes, copying it would cost more than to let it grow.
  const bool in_place = series.samples.size() > count;
  Samples& all = in_place ? series.samples : scratch_;
  if (!in_place) {
    all.times.assign(series.samples.times.begin(), series.samples.times.end());
    all.values.assign(series.samples.values.begin(), series.samples.values.end());
  }
  append(all);
  if (all.times.empty()) return;
  const std::size_t first = evaluate_until(all.times.back(), all, series.step, column);
  if (!in_place) {
    copy_rest(all, first, series.samples);
  } else if (first > all.size() / 2) {
    erase_front(all, first);
  }
}

void SeriesWindows::add(SeriesProgress& series, const storage::Block& block,
                        std::span<double> column) {
  add_some(series, block.size(), column, [&](Samples& to) {
    const std::size_t before = to.size();
    to.times.insert(to.times.end(), block.times.begin(), block.times.end());
    append_values(to.values, block);
    if (plan_->function != nullptr && block.floats.any()) erase_markers(to, before);
  });
}

void SeriesWindows::add(SeriesProgress& series, const Samples& samples, std::span<double> column) {
  add_some(series, samples.size(), column, [&](Samples& to) {
    to.times.insert(to.times.end(), samples.times.begin(), samples.times.end());
    to.values.insert(to.values.end(), samples.values.begin(), samples.values.end());
  });
}

void SeriesWindows::finish(SeriesProgress& series, std::span<double> column) {
  if (series.step == plan_->steps.count) return;
  evaluate_until(std::numeric_limits<TimestampMs>::max(), series.samples, series.step, column);
  series.samples = Samples();
}

std::size_t SeriesWindows::evaluate_until(TimestampMs known, const Samples& samples,
                                          std::size_t& step, std::span<double> column) {
  const std::size_t count = plan_->steps.count;
  first_ = behind_ = 0;
  run_ = {};
  bool are_resets_known = false;
  while (step < count) {
    const TimestampMs end = plan_->end_of(step) + plan_->behind_ms;
    if (end > known || !may_go_on()) break;
    // Not before a window is complete: it may take thousands of blocks.
    if (!std::exchange(are_resets_known, true)) find_resets(samples);
    behind_ = skip_until(samples.times, behind_, end);
    // Of an instant selector, only the newest sample matters.
    if (plan_->function == nullptr && behind_ > 0) first_ = behind_ - 1;
    const TimestampMs begin = plan_->begin_of(step);
    first_ = skip_until(std::span(samples.times).first(behind_), first_, begin);
    if (const std::size_t shifted = shifted_steps(known, samples, step); shifted > 1) {
      evaluate_shifted(samples, step, column.subspan(step, shifted));
      work_ += shifted;
      first_ += (shifted - 1) * run_.shift;
      behind_ += (shifted - 1) * run_.shift;
      step += shifted;
      continue;
    }
    const double value = first_ == behind_ ? kAbsent : evaluate(samples, step);
    // With @ the window is the same at all steps, so that the value is, too, unless it depends
    // on the time or on a parameter.
    const bool same = plan_->fixed_end && plan_->parameters.empty();
    const std::size_t until = same ? count : step + 1;
    std::fill(column.begin() + static_cast<std::ptrdiff_t>(step),
              column.begin() + static_cast<std::ptrdiff_t>(until), value);
    step = until;
  }
  if (step == count) return samples.size();
  const TimestampMs begin = plan_->begin_of(step);
  return skip_until(samples.times, first_, begin);
}

Window SeriesWindows::window_of(const Samples& samples, std::size_t step) {
  const TimestampMs end = plan_->end_of(step);
  return {.times = samples.times.data() + first_,
          .values = samples.values.data() + first_,
          .size = behind_ - first_,
          .begin = end - plan_->range_ms,
          .end = end,
          .now = plan_->steps.at(step),
          .resets = {},
          .extrapolation = &extrapolation_};
}

double SeriesWindows::evaluate(const Samples& samples, std::size_t step) {
  if (plan_->function == nullptr) {
    const double newest = samples.values[behind_ - 1];
    if (!plan_->sample_times || is_absent(newest)) return newest;
    return static_cast<double>(samples.times[behind_ - 1]) / 1000;
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i] = plan_->parameters[i][step];
  }
  Window window = window_of(samples, step);
  if (plan_->function->wants_counter) {
    const auto begins = std::ranges::upper_bound(resets_, first_, {}, &CounterReset::place);
    const auto ends =
        std::ranges::lower_bound(begins, resets_.end(), behind_, {}, &CounterReset::place);
    window.resets.emplace(begins, ends);
  }
  return plan_->function->evaluate(window, parameters_);
}

bool SeriesWindows::may_shift(const WindowPlan& plan) {
  if (plan.fixed_end || plan.sample_times || plan.before_ms != 0 || plan.behind_ms != 0)
    return false;
  return plan.function == nullptr || plan.function->evaluate_shifted != nullptr;
}

std::size_t SeriesWindows::shifted_steps(TimestampMs known, const Samples& samples,
                                         std::size_t step) {
  if (!may_shift_ || !resets_.empty() || first_ == behind_ || first_ + 1 >= samples.size())
    return 1;
  if (first_ + 1 >= run_.end) find_run(samples.times);
  // The sample behind a run may be nearer, so that windows have to end before it.
  const std::size_t samples_end = run_.end == samples.size() ? run_.end : run_.end - 1;
  if (run_.shift == 0 || behind_ >= samples_end) return 1;
  // A sample of the run before first_ would be in the windows of later steps.
  if (samples.times[first_] - plan_->begin_of(step) > run_.distance && plan_->function != nullptr) {
    return 1;
  }
  const TimestampMs end = plan_->end_of(step);
  const std::uint64_t until_known =
      (static_cast<std::uint64_t>(known) - static_cast<std::uint64_t>(end)) /
      static_cast<std::uint64_t>(plan_->steps.step_ms);
  const std::size_t until_end =
      std::min((samples_end - behind_) / run_.shift, plan_->steps.count - step - 1);
  return 1 + std::min<std::uint64_t>(until_known, until_end);
}

void SeriesWindows::evaluate_shifted(const Samples& samples, std::size_t step,
                                     std::span<double> values) {
  if (plan_->function != nullptr) {
    plan_->function->evaluate_shifted({.first = window_of(samples, step), .shift = run_.shift},
                                      values);
    return;
  }
  const double* newest = samples.values.data() + behind_ - 1;
  for (double& value : values) {
    value = *newest;
    newest += run_.shift;
  }
}

// The run that begins at first_.
void SeriesWindows::find_run(std::span<const TimestampMs> times) {
  run_ = {.end = first_ + 2, .distance = times[first_ + 1] - times[first_], .shift = 0};
  constexpr std::size_t kTogether = 8;  // in a loop without branches
  const auto differs = [&](std::size_t at) {
    return static_cast<std::uint64_t>((times[at] - times[at - 1]) ^ run_.distance);
  };
  for (; run_.end + kTogether <= times.size(); run_.end += kTogether) {
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < kTogether; ++i) any |= differs(run_.end + i);
    if (any != 0) break;
  }
  while (run_.end < times.size() && differs(run_.end) == 0) ++run_.end;
  const std::int64_t step_ms = plan_->steps.step_ms;
  if (run_.distance > 0 && step_ms % run_.distance == 0)
    run_.shift = static_cast<std::size_t>(step_ms / run_.distance);
}

void SeriesWindows::find_resets(const Samples& samples) {
  resets_.clear();
  if (plan_->function == nullptr || !plan_->function->wants_counter) return;
  const double* const values = samples.values.data();
  std::size_t count = 0;  // first, for there are mostly none
  for (std::size_t i = 1; i < samples.size(); ++i) count += values[i] < values[i - 1] ? 1 : 0;
  for (std::size_t i = 1; count > 0 && i < samples.size(); ++i) {
    if (!(values[i] < values[i - 1])) continue;
    resets_.push_back({.place = i, .before = values[i - 1]});
    --count;
  }
}

bool SeriesWindows::may_go_on() {
  constexpr std::size_t kSamplesBetweenChecks = 1 << 20;
  work_ += behind_ - first_ + 1;
  if (work_ < kSamplesBetweenChecks || plan_->budget == nullptr) return true;
  work_ = 0;
  return plan_->budget->check().has_value();
}

}  // namespace halite::query::promql
