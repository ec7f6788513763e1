// What a read may take, where it may look, and who counts its work.
//
// The asker makes one for each question and passes it to PointStore::select() or Table::scan().
// Neither has a default, so a decorator that does not pass it on does not compile. A Selection
// keeps its context for everything that is read by it.
//
//   Threads  its members are called from any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "common/work_budget.h"

namespace halite::storage {

enum class ReadSource : std::uint8_t {
  kDisk,
  // A store that would block its caller for a disk fails with kUnavailable instead. Stores that
  // never block their caller ignore it.
  kMemory,
};

struct ReadWork {
  std::uint64_t chunks_decoded = 0;
  std::uint64_t chunks_skipped = 0;  // found, but without a point in the range
  std::uint64_t totals = 0;          // spans answered by stored totals instead of points
};

class ReadCounters {
 public:
  virtual ~ReadCounters() = default;
  virtual void count_read(const ReadWork& work) = 0;  // any thread
};

struct ReadContext {
  // Cancellation, time limit, and the budget of series and memory. Null: no limits, never stopped.
  std::shared_ptr<WorkBudget> budget = nullptr;
  ReadSource source = ReadSource::kDisk;
  std::shared_ptr<ReadCounters> counters = nullptr;  // null: not counted

  // The watch's error when it is time to give up.
  [[nodiscard]] Result<void> check() const {
    return budget == nullptr ? Result<void>() : budget->check();
  }
};

}  // namespace halite::storage
