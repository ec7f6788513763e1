// The unreadable parts of the chunk files (storage/backends/rocks/inspect/damage.h). Queries that
// do not need them are still answered.
//
//   Threads  call from any thread.
#pragma once

#include <atomic>

#include <prometheus/registry.h>

#include "storage/backends/rocks/inspect/damage.h"

namespace halite::storage::engine {

class Damage final : public rocks::Damage {
 public:
  explicit Damage(prometheus::Registry& registry);

  // Notes that an automatic compaction found damage.
  void note_failed_compaction(const Error& error);
  // Whether one did since the last call.
  [[nodiscard]] bool take_failed_compaction() { return failed_compaction_.exchange(false); }

 private:
  std::atomic<bool> failed_compaction_ = false;
};

}  // namespace halite::storage::engine
