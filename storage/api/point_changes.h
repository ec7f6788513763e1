// Tells which of a store's points changed since a reader read them, so that the reader can use
// again what it made of the others.
//
//   const PointChanges::Mark mark = changes.mark();
//   ... read ...
//   changes.unchanged_before(mark)   later: points before this time are still as they were read
//
// Changes are remembered by periods of at least a second, each with the earliest time of its
// changes. So what changed up to a second before the mark may count as changed after it.
//
//   Order    A store makes a change visible, calls changed_from(), and then acknowledges the
//   change.
//            So a reader that begins after the acknowledgement does not use older results.
//   Threads  call from any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "common/clock.h"

namespace halite::storage {

class PointChanges {
 public:
  using Mark = std::uint64_t;

  // The clock outlives it.
  explicit PointChanges(const Clock& clock);

  // Call it before reading.
  [[nodiscard]] Mark mark();
  // Points at this time or later have changed.
  void changed_from(TimestampMs time);
  // The least time if the mark is too old.
  [[nodiscard]] TimestampMs unchanged_before(Mark mark) const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;           // guards the others
  std::vector<TimestampMs> earliest_;  // a ring: of the changes in each period
  Mark period_ = 0;                    // the last one
  std::int64_t begun_us_ = 0;          // of it, by the clock
};

// Calls changed_from() when it is destroyed: for a change that becomes visible piece by piece, and
// may fail halfway.
class ChangedAtEnd {
 public:
  // `changes` outlives it.
  ChangedAtEnd(PointChanges& changes, TimestampMs from) : changes_(changes), from_(from) {}
  ~ChangedAtEnd() { changes_.changed_from(from_); }
  ChangedAtEnd(const ChangedAtEnd&) = delete;

 private:
  PointChanges& changes_;
  const TimestampMs from_;
};

}  // namespace halite::storage
