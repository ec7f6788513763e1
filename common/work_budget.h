// What long work asks on its way: is it still wanted, in time, and within what it may take?
//
// Whoever starts the work makes one; it is handed down to the loops that read, which may be many at
// a time and outlive their starter by a step, so it is shared.
//
//   Threads  any call from any thread.
//   Errors   kCancelled: nobody wants it any more. kTimeout, kTooLarge: a limit, named with the
//            setting that raises it.
#pragma once

#include <cstdint>

#include "common/result.h"

namespace halite {

class WorkBudget {
 public:
  virtual ~WorkBudget() = default;

  // kCancelled or kTimeout when it is time to give up. Cheap enough for every few thousand steps.
  [[nodiscard]] virtual Result<void> check() const = 0;

  // kTooLarge when so many series more than were counted before would be too many. Counts nothing.
  [[nodiscard]] virtual Result<void> check_series(std::uint64_t more) const = 0;

  // Memory in use; what is taken is given back by a negative count, which never fails.
  [[nodiscard]] virtual Result<void> add_bytes(std::int64_t count) = 0;
};

}  // namespace halite
