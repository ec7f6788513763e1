#include "storage/api/point_changes.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace halite::storage {
namespace {

constexpr std::size_t kPeriods = 4096;
constexpr std::int64_t kPeriodUs = 1'000'000;
constexpr TimestampMs kNone = std::numeric_limits<TimestampMs>::max();

}  // namespace

PointChanges::PointChanges(const Clock& clock)
    : clock_(clock), earliest_(kPeriods, kNone), begun_us_(clock.elapsed_us()) {}

PointChanges::Mark PointChanges::mark() {
  const std::int64_t now_us = clock_.elapsed_us();
  const std::lock_guard lock(mutex_);
  if (earliest_[period_ % kPeriods] != kNone && now_us - begun_us_ >= kPeriodUs) {
    earliest_[++period_ % kPeriods] = kNone;
    begun_us_ = now_us;
  }
  return period_;
}

void PointChanges::changed_from(TimestampMs time) {
  const std::lock_guard lock(mutex_);
  TimestampMs& earliest = earliest_[period_ % kPeriods];
  earliest = std::min(earliest, time);
}

TimestampMs PointChanges::unchanged_before(Mark mark) const {
  const std::lock_guard lock(mutex_);
  if (period_ - mark >= kPeriods) return std::numeric_limits<TimestampMs>::min();
  TimestampMs earliest = kNone;
  for (Mark period = mark; period <= period_; ++period) {
    earliest = std::min(earliest, earliest_[period % kPeriods]);
  }
  return earliest;
}

}  // namespace halite::storage
