// The limits of long work: cancellation, time, series and memory.
//
// The starter of the work creates one and passes it to the loops that read. These may run in
// parallel and may outlive the starter by a step, so the budget is shared.
//
//   Threads  call from any thread.
//   Errors   kCancelled: the client no longer waits. kTimeout, kTooLarge: a limit; the message
//            names the setting that raises it.
#pragma once

#include <cstdint>

#include "common/result.h"

namespace halite {

class WorkBudget {
 public:
  virtual ~WorkBudget() = default;

  // kCancelled or kTimeout if the work must stop. Cheap enough to call every few thousand steps.
  [[nodiscard]] virtual Result<void> check() const = 0;

  // kTooLarge if `more` series would exceed the limit. Counts nothing.
  [[nodiscard]] virtual Result<void> check_series(std::uint64_t more) const = 0;

  // Adds to the memory in use. A negative count releases memory and never fails.
  [[nodiscard]] virtual Result<void> add_bytes(std::int64_t count) = 0;
};

}  // namespace halite
