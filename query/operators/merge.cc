#include "query/operators/merge.h"

#include <algorithm>

#include "common/check.h"
#include "query/operators/accumulator.h"
#include "query/parse/aggregator.h"

namespace halite::query {
namespace {

double point_number(const MergePoint& point) { return double_of(point.value, point.is_float); }

// y0 + (t - x0) * (y1 - y0) / (x1 - x0) in 64 bits that wrap; the division truncates.
std::int64_t line_at(const MergePoint& from, const MergePoint& to, TimestampMs time) {
  const auto rise = static_cast<std::uint64_t>(to.value) - static_cast<std::uint64_t>(from.value);
  const auto run = static_cast<std::uint64_t>(time - from.time);
  const std::int64_t share = as_integer(run * rise) / (to.time - from.time);
  return as_integer(from.value + integer_bits(share));
}

// The time (excluded) up to which this member's points, and the next point after each, are known.
TimestampMs known_until(const Member& member, bool rate) {
  if (member.finished) return kNever;
  // A first rate counts from the very beginning, but only if a second one follows.
  if (rate && member.missing(rate) > 0) return std::numeric_limits<TimestampMs>::min();
  if (!member.points.empty()) return member.points.times.back();
  return member.has_current ? member.current.time : member.final_until;
}

// Members and their points are scattered in memory: prefetches those after `i`.
void prefetch_points(std::span<Member* const> members, std::size_t i) {
  constexpr std::size_t kAhead = 8;
  if (i + 2 * kAhead < members.size()) __builtin_prefetch(members[i + 2 * kAhead]);
  if (i + kAhead >= members.size()) return;
  const PointColumns& points = members[i + kAhead]->points;
  __builtin_prefetch(points.times.data());
  __builtin_prefetch(points.values.data());
  __builtin_prefetch(points.floats.data());
}

}  // namespace

void GroupMerge::load_next(GroupSlot& slot) const {
  const Member& member = *slot.member;
  const PointColumns& points = member.points;
  if (slot.at < points.size()) {
    slot.next = {.time = points.times[slot.at],
                 .value = points.values[slot.at],
                 .is_float = points.floats[slot.at] != 0};
  } else {
    slot.next = {.time = kNever, .value = 0, .is_float = false};
  }
}

// The first rate becomes the current point if a second one follows. Otherwise it is dropped.
void GroupMerge::load_seed(GroupSlot& slot) const {
  Member& member = *slot.member;
  if (!plan_->rate || member.seeded || member.points.empty()) return;
  const bool followed = member.points.size() > 1;
  if (!followed && !member.finished) return;
  member.seeded = true;
  slot.at = 1;
  if (!followed) return;
  slot.has_current = true;
  slot.current = {.time = member.points.times[0],
                  .value = member.points.values[0],
                  .is_float = member.points.floats[0] != 0};
}

TimestampMs GroupMerge::load(std::span<Member* const> members) {
  slots_.clear();
  slots_.reserve(members.size());
  next_times_.clear();
  next_times_.reserve(members.size());
  ended_.clear();
  float_points_ = 0;
  TimestampMs horizon = kNever;
  for (std::size_t i = 0; i < members.size(); ++i) {
    prefetch_points(members, i);
    Member* const member = members[i];
    horizon = std::min(horizon, known_until(*member, plan_->rate.has_value()));
    if (member->points.empty() && !member->has_current) continue;
    GroupSlot slot{.member = member,
                   .at = 0,
                   .current = member->current,
                   .next = {},
                   .has_current = member->has_current};
    load_seed(slot);
    load_next(slot);
    if (slot.has_current && slot.next.time == kNever) ended_.push_back(slots_.size());
    float_points_ += slot.has_current && slot.current.is_float ? 1 : 0;
    float_points_ += slot.next.is_float ? 1 : 0;
    next_times_.push_back(slot.next.time);
    slots_.push_back(slot);
  }
  return horizon;
}

void GroupMerge::store() {
  for (const GroupSlot& slot : slots_) {
    Member& member = *slot.member;
    member.current = slot.current;
    member.has_current = slot.has_current;
    member.points.drop_front(std::min(slot.at, member.points.size()));
  }
}

void GroupMerge::leave(GroupSlot& slot) {
  float_points_ -= slot.current.is_float ? 1 : 0;
  slot.has_current = false;
}

// Advances every member that has a point at `time`; returns the next time with a point.
TimestampMs GroupMerge::step(TimestampMs time) {
  for (const std::size_t i : ended_) leave(slots_[i]);
  ended_.clear();
  TimestampMs soonest = kNever;
  for (std::size_t i = 0; i < next_times_.size(); ++i) {
    if (next_times_[i] == time) {
      GroupSlot& slot = slots_[i];
      if (slot.has_current && slot.current.is_float) --float_points_;
      slot.current = slot.next;
      slot.has_current = true;
      ++slot.at;
      load_next(slot);
      if (slot.next.is_float) ++float_points_;
      if (slot.next.time == kNever) ended_.push_back(i);
      next_times_[i] = slot.next.time;
    }
    soonest = std::min(soonest, next_times_[i]);
  }
  return soonest;
}

std::int64_t GroupMerge::integer_at(const GroupSlot& slot, TimestampMs time) const {
  if (slot.current.time == time) return as_integer(slot.current.value);
  switch (plan_->aggregator->interpolation) {
    case Interpolation::kLinear:
      return line_at(slot.current, slot.next, time);
    case Interpolation::kZero:
      return 0;
    case Interpolation::kMax:
      return std::numeric_limits<std::int64_t>::max();
    case Interpolation::kMin:
      return std::numeric_limits<std::int64_t>::min();
    case Interpolation::kPrevious:
      break;
  }
  return as_integer(slot.current.value);
}

double GroupMerge::double_at(const GroupSlot& slot, TimestampMs time) const {
  const double value = point_number(slot.current);
  if (slot.current.time == time || plan_->rate) return value;
  switch (plan_->aggregator->interpolation) {
    case Interpolation::kLinear:
      return value + static_cast<double>(time - slot.current.time) *
                         (point_number(slot.next) - value) /
                         static_cast<double>(slot.next.time - slot.current.time);
    case Interpolation::kZero:
      return 0;
    case Interpolation::kMax:
      return std::numeric_limits<double>::max();
    case Interpolation::kMin:
      return std::numeric_limits<double>::lowest();
    case Interpolation::kPrevious:
      break;
  }
  return value;
}

Result<void> GroupMerge::emit(TimestampMs time, AnswerSeries& out) {
  ValueBits value = 0;
  const bool integer = float_points_ == 0 && !plan_->rate;
  if (integer) {
    integers_.clear();
    for (const GroupSlot& slot : slots_) {
      if (slot.has_current) integers_.push_back(integer_at(slot, time));
    }
    value = integer_bits(aggregate_integers(*plan_->aggregator, integers_));
  } else {
    doubles_.clear();
    for (const GroupSlot& slot : slots_) {
      if (slot.has_current) doubles_.push_back(double_at(slot, time));
    }
    value = double_bits(aggregate_doubles(*plan_->aggregator, doubles_));
  }
  out.times.push_back(time);
  out.values.push_back(value);
  out.floats.push_back(!integer);
  return check_infinity(out, out.times.size() - 1);
}

// A group of the aggregator `none` has one member.
Result<void> GroupMerge::copy(Member& member, TimestampMs cap, AnswerSeries& out,
                              QueryBudget& budget) const {
  PointColumns& points = member.points;
  const auto begin = std::ranges::lower_bound(points.times, plan_->asked.begin);
  const auto end = std::ranges::lower_bound(points.times, std::min(cap, plan_->asked.end));
  const auto end_at = static_cast<std::size_t>(end - points.times.begin());
  for (auto i = static_cast<std::size_t>(begin - points.times.begin()); i < end_at; ++i) {
    out.times.push_back(points.times[i]);
    out.values.push_back(points.values[i]);
    out.floats.push_back(points.floats[i] != 0);
  }
  TRY_VOID(budget.add_output_points(static_cast<std::uint64_t>(end - begin)));
  points.drop_front(end_at);
  return {};
}

Result<void> GroupMerge::merge(std::span<Member* const> members, TimestampMs cap, AnswerSeries& out,
                               QueryBudget& budget) {
  if (plan_->as_stored) {
    HALITE_CHECK(members.size() == 1, "series that are not aggregated are not merged");
    return copy(*members.front(), cap, out, budget);
  }
  const TimestampMs horizon = std::min(cap, load(members));
  TimestampMs time = kNever;
  for (const TimestampMs next : next_times_) time = std::min(time, next);

  constexpr std::size_t kWorkBetweenChecks = 1 << 16;
  constexpr int kStepsBetweenRuns = 16;
  const TimestampMs end = std::min(horizon, plan_->asked.end);
  std::size_t work = 0;
  std::size_t counted = out.times.size();
  int steps_to_run = 0;
  while (time < end) {
    const Run run = steps_to_run-- > 0 ? Run{} : find_run(time, end);
    if (run.length > 0) {
      TRY_VOID(merge_run(run, out));
      time = after_run(run);
      steps_to_run = 0;
    } else {
      const TimestampMs next = step(time);
      if (time >= plan_->asked.begin) TRY_VOID(emit(time, out));
      time = next;
      if (steps_to_run < 0) steps_to_run = kStepsBetweenRuns;
    }
    work += (slots_.size() + 1) * std::max<std::size_t>(1, run.length);
    if (work < kWorkBetweenChecks) continue;
    work = 0;
    TRY_VOID(budget.check());
    TRY_VOID(budget.add_output_points(out.times.size() - counted));
    counted = out.times.size();
  }
  TRY_VOID(budget.add_output_points(out.times.size() - counted));
  store();
  return {};
}

}  // namespace halite::query
