// Cell times for writes that bring none: the clock, but never below any time the store has seen.
//
// Equal times are fine (the cell written last wins), a smaller one would hide the newer write.
// Safe to call from any thread.
#pragma once

#include <algorithm>
#include <atomic>

#include "common/clock.h"

namespace halite::storage {

class HybridClock {
 public:
  // `seen`: the greatest time the store held when it was closed.
  explicit HybridClock(const Clock& clock, TimestampMs seen = 0) : clock_(clock), seen_(seen) {}

  TimestampMs stamp() { return raise(clock_.now_ms()); }
  void observe(TimestampMs time) { raise(time); }

  // The time to give to a cell that was written with `asked` (0 = none asked).
  TimestampMs time_for(TimestampMs asked) {
    if (asked == 0) return stamp();
    observe(asked);
    return asked;
  }

  [[nodiscard]] TimestampMs seen() const { return seen_.load(); }
  [[nodiscard]] TimestampMs now_ms() const { return clock_.now_ms(); }  // the plain clock

 private:
  TimestampMs raise(TimestampMs to) {
    TimestampMs seen = seen_.load();
    while (seen < to && !seen_.compare_exchange_weak(seen, to)) {
    }
    return std::max(seen, to);
  }

  const Clock& clock_;
  std::atomic<TimestampMs> seen_;
};

}  // namespace halite::storage
