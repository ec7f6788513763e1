// Chunks in their final form: the chunks of a slot that is over, of each series, as one, densely
// coded; what tombstones and later points hide is gone for good.
//
//   Threads  for the maintenance thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include "storage/engine/core.h"

namespace halite::storage::engine {

class Sealing {
 public:
  Sealing(std::shared_ptr<Core> core, prometheus::Registry& registry);

  // Slots of these generations got chunks now.
  void note_flush(const std::set<std::int64_t>& generations);

  // Seals a slot that is over and quiet, or has been flushed into often; at most one a call.
  [[nodiscard]] Result<void> run_due();
  [[nodiscard]] Result<void> seal_everything();

 private:
  struct Dirty {
    TimestampMs since_ms = 0;   // the last flush
    std::uint32_t flushes = 0;  // since it was sealed
  };
  void find_slots();
  [[nodiscard]] Result<void> seal(std::int64_t generation);
  [[nodiscard]] Result<void> seal_shard(std::int64_t generation, std::uint32_t shard);

  const std::shared_ptr<Core> core_;
  std::map<std::int64_t, Dirty> dirty_;  // by generation
  std::shared_ptr<const UnsealedSlots> looked_at_;
  prometheus::Counter& sealed_points_;
  prometheus::Counter& sealed_bytes_;
};

}  // namespace halite::storage::engine
