// The limits of a read, the sources that it may use, and its counters.
//
// Each query creates one and passes it to PointStore::select() or Table::scan(). Those parameters
// have no default, so a decorator cannot forget to pass it on. A Selection keeps its context for
// all reads through it.
//
//   Threads  call its members from any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "common/threads/work_budget.h"

namespace halite::storage {

enum class ReadSource : std::uint8_t {
  kDisk,
  // A store that would block its caller on a disk read returns kUnavailable instead. Stores that
  // never block their caller ignore this value.
  kMemory,
};

struct ReadWork {
  std::uint64_t chunks_decoded = 0;
  std::uint64_t chunks_skipped = 0;  // read, but without a point in the range
  std::uint64_t totals = 0;          // spans answered from stored totals
};

class ReadCounters {
 public:
  virtual ~ReadCounters() = default;
  virtual void count_read(const ReadWork& work) = 0;  // call from any thread
};

struct ReadContext {
  // Cancellation, time limit, and the budget of series and memory. Null: no limits.
  std::shared_ptr<WorkBudget> budget = nullptr;
  ReadSource source = ReadSource::kDisk;
  std::shared_ptr<ReadCounters> counters = nullptr;  // null: not counted

  // The budget's error if the read must stop.
  [[nodiscard]] Result<void> check() const {
    return budget == nullptr ? Result<void>() : budget->check();
  }
};

}  // namespace halite::storage
