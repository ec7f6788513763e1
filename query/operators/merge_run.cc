// The fast path of a merge: for a stretch of time, every member has points at equal times and of
// one type. Nothing is interpolated, so whole columns are aggregated at once.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "query/operators/column_aggregator.h"
#include "query/operators/merge.h"

namespace halite::query {
namespace {

constexpr std::size_t kRunMin = 4;
constexpr std::size_t kRunValuesMax = 1 << 22;  // of all members, between two checks

template <class T>
std::size_t same_prefix(const T* a, const T* b, std::size_t length) {
  return static_cast<std::size_t>(std::mismatch(a, a + length, b).first - a);
}

}  // namespace

// Collects the slots that have a point at `time`. Returns false if another slot is between two of
// its points. A slot that has not begun ends the run where it begins.
bool GroupMerge::gather_run(TimestampMs time, TimestampMs& end, bool& waiting_float) {
  in_run_.clear();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (next_times_[i] == time) {
      in_run_.push_back(i);
    } else if (next_times_[i] != kNever) {
      if (slots_[i].has_current) return false;
      end = std::min(end, next_times_[i]);
      waiting_float |= slots_[i].next.is_float;
    }
  }
  return true;
}

GroupMerge::Run GroupMerge::find_run(TimestampMs time, TimestampMs end) {
  bool waiting_float = false;
  if (!gather_run(time, end, waiting_float)) return {};
  const auto times_of = [this](std::size_t slot) {
    return slots_[slot].member->points.times.data() + slots_[slot].at;
  };
  const GroupSlot& first = slots_[in_run_.front()];
  const PointColumns& base = first.member->points;
  const bool integers = base.floats[first.at] == 0;
  if (integers && waiting_float) return {};

  const auto from = base.times.begin() + static_cast<std::ptrdiff_t>(first.at);
  auto length = static_cast<std::size_t>(std::lower_bound(from, base.times.end(), end) - from);
  length = std::min(length, std::max(kRunMin, kRunValuesMax / in_run_.size()));
  for (const std::size_t i : in_run_) {
    const PointColumns& points = slots_[i].member->points;
    const std::size_t left = points.size() - slots_[i].at;
    length = same_prefix(times_of(in_run_.front()), times_of(i), std::min(length, left));
    // An integer point requires that the next point, if any, is an integer, too.
    const std::size_t looked_at = std::min(left, length + (integers ? 1 : 0));
    const auto types = points.floats.begin() + static_cast<std::ptrdiff_t>(slots_[i].at);
    const auto other = std::find(types, types + static_cast<std::ptrdiff_t>(looked_at),
                                 integers ? std::uint8_t{1} : std::uint8_t{0});
    const auto same = static_cast<std::size_t>(other - types);
    if (same < looked_at) length = std::min(length, integers ? same - (same > 0 ? 1 : 0) : same);
    if (length < kRunMin) return {};
  }
  return {.length = length, .integers = integers};
}

Result<void> GroupMerge::merge_run(Run run, AnswerSeries& out) {
  const GroupSlot& first = slots_[in_run_.front()];
  const auto times = first.member->points.times.begin() + static_cast<std::ptrdiff_t>(first.at);
  const auto end = times + static_cast<std::ptrdiff_t>(run.length);
  const auto begin = std::lower_bound(times, end, plan_->asked.begin);
  const auto skipped = static_cast<std::size_t>(begin - times);
  const std::size_t count = run.length - skipped;
  std::vector<const ValueBits*> columns;
  columns.reserve(in_run_.size());
  for (const std::size_t i : in_run_) {
    columns.push_back(slots_[i].member->points.values.data() + slots_[i].at + skipped);
  }
  const std::size_t before = out.times.size();
  out.times.insert(out.times.end(), begin, end);
  out.floats.insert(out.floats.end(), count, !run.integers);
  if (run.integers) {
    ColumnAggregator::integers(*plan_->aggregator, columns, count, out.values);
    return {};
  }
  ColumnAggregator::doubles(*plan_->aggregator, columns, count, out.values);
  return check_infinity(out, before);
}

// Moves every member to its state after the run; returns the next time.
TimestampMs GroupMerge::after_run(Run run) {
  for (const std::size_t i : ended_) leave(slots_[i]);
  ended_.clear();
  for (const std::size_t i : in_run_) {
    GroupSlot& slot = slots_[i];
    const PointColumns& points = slot.member->points;
    if (slot.has_current && slot.current.is_float) --float_points_;
    if (slot.next.is_float) --float_points_;
    slot.at += run.length;
    slot.current = {.time = points.times[slot.at - 1],
                    .value = points.values[slot.at - 1],
                    .is_float = points.floats[slot.at - 1] != 0};
    slot.has_current = true;
    load_next(slot);
    float_points_ += (slot.current.is_float ? 1 : 0) + (slot.next.is_float ? 1 : 0);
    next_times_[i] = slot.next.time;
    if (slot.next.time == kNever) ended_.push_back(i);
  }
  return std::ranges::min(next_times_);
}

Result<void> GroupMerge::check_infinity(const AnswerSeries& out, std::size_t from) const {
  for (std::size_t i = from; i < out.times.size(); ++i) {
    const double value = as_double(out.values[i]);
    if (!out.floats[i] || !std::isinf(value)) continue;
    return fail(Errc::kInvalidArgument,
                fmt::format("Got Infinity: {}Infinity at {}", value < 0 ? "-" : "", out.times[i]));
  }
  return {};
}

}  // namespace halite::query
