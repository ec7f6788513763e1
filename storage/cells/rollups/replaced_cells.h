// Sees to it that of two cells of one moment the one written last wins, where they lie under
// different qualifiers: cells get their time from the store in milliseconds, so that two writes
// within one could not be told apart.
//
//   CO_TRY_VOID(co_await replaced.wait_for_distinct_time(slots));   waits until no write would be a
//   tie CO_TRY_VOID(co_await table.write(...)); replaced.completed(slots);
//
//   Order    of writes under way at the same time nothing is promised.
//   Threads  any call from any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/clock.h"
#include "common/task.h"

namespace halite::storage {

// A place that one cell at a time holds, under a qualifier that its form decides.
struct CellSlot {
  std::uint64_t slot_hash = 0;  // a hash of table, row and what comes before the form
  std::uint8_t form = 0;
};

class ReplacedCells {
 public:
  // The clock outlives it.
  explicit ReplacedCells(const Clock& clock) : clock_(clock) {}

  Task<void> wait_for_distinct_time(std::vector<CellSlot> slots);
  void completed(const std::vector<CellSlot>& slots);

 private:
  [[nodiscard]] bool tie(const std::vector<CellSlot>& slots);

  const Clock& clock_;
  std::mutex mutex_;
  TimestampMs completed_ms_ = 0;  // the last time; guarded by mutex_
  boost::unordered_flat_map<std::uint64_t, std::uint8_t> forms_;  // written then; guarded by mutex_
};

}  // namespace halite::storage
