// What of the chunks' files cannot be read (storage/backends/rocks/inspect/damage.h): all questions
// but those that need it are answered.
//
//   Threads  any call from any thread.
#pragma once

#include <atomic>

#include <prometheus/registry.h>

#include "storage/backends/rocks/inspect/damage.h"

namespace halite::storage::engine {

class Damage final : public rocks::Damage {
 public:
  explicit Damage(prometheus::Registry& registry);

  // RocksDB merged by itself, and met damage.
  void note_failed_compaction(const Error& error);
  // Whether it did since this was asked last.
  [[nodiscard]] bool take_failed_compaction() { return failed_compaction_.exchange(false); }

 private:
  std::atomic<bool> failed_compaction_ = false;
};

}  // namespace halite::storage::engine
