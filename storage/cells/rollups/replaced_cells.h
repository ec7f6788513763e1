// Ensures that the last write wins between two cells of one time with different qualifiers. Cells
// get the store's time in milliseconds, so two writes within 1 ms would be ambiguous.
//
//   CO_TRY_VOID(co_await replaced.wait_for_distinct_time(slots));
//   CO_TRY_VOID(co_await table.write(...));
//   replaced.completed(slots);
//
//   Order    undefined between concurrent writes.
//   Threads  call from any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/clock.h"
#include "common/threads/task.h"

namespace halite::storage {

// A place for one cell, whose qualifier depends on its form.
struct CellSlot {
  std::uint64_t slot_hash = 0;  // hash of the table, the row and the part before the form
  std::uint8_t form = 0;
};

class ReplacedCells {
 public:
  // The clock must outlive it.
  explicit ReplacedCells(const Clock& clock) : clock_(clock) {}

  Task<void> wait_for_distinct_time(std::vector<CellSlot> slots);
  void completed(const std::vector<CellSlot>& slots);

 private:
  [[nodiscard]] bool tie(const std::vector<CellSlot>& slots);

  const Clock& clock_;
  std::mutex mutex_;
  TimestampMs completed_ms_ = 0;  // of the last write; guarded by mutex_
  // The forms written at that time; guarded by mutex_.
  boost::unordered_flat_map<std::uint64_t, std::uint8_t> forms_;
};

}  // namespace halite::storage
