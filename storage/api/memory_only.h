// Asks for an answer from memory alone: a WorkWatch that is one of these, too, makes a store that
// would block its caller for a disk fail with kUnavailable instead. The asker tries again where
// waiting does no harm. Stores that never block whoever awaits them need not look.
#pragma once

#include <memory>

#include "common/work_watch.h"

namespace halite::storage {

class MemoryOnly {
 public:
  virtual ~MemoryOnly() = default;
};

[[nodiscard]] inline bool memory_only(const std::shared_ptr<WorkWatch>& watch) {
  return dynamic_cast<const MemoryOnly*>(watch.get()) != nullptr;
}

}  // namespace halite::storage
