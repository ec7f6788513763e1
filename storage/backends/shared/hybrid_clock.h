// Times for cells that are written without one: the clock, but never below a time already seen.
//
// Equal times are harmless (the cell written last wins). A smaller time would hide the newer write.
// Call from any thread.
#pragma once

#include <algorithm>
#include <atomic>

#include "common/clock.h"

namespace halite::storage {

class HybridClock {
 public:
  // `seen`: the greatest time in the store at its last close.
  explicit HybridClock(const Clock& clock, TimestampMs seen = 0) : clock_(clock), seen_(seen) {}

  TimestampMs stamp() { return raise(clock_.now_ms()); }
  void observe(TimestampMs time) { raise(time); }

  // The time of a cell written with the time `asked` (0 = none).
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
