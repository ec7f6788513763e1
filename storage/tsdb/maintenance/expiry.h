// What is older than the TTL goes: whole slots, once nothing in them can be asked for any more.
//
// Removal does not trust a jump of the clock. Once now is more than two spans past both the last
// run and the newest stored data, nothing is removed and the log says so, until the setting
// engine.expire_after_clock_jump confirms that the clock is right, or the clock is back. A clock
// that was set back removes only what was due by then.
//
//   Threads  for the maintenance thread.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include "storage/tsdb/chunk_db/breathe.h"
#include "storage/tsdb/chunk_db/slot_reader.h"
#include "storage/tsdb/core/core.h"
#include "storage/tsdb/maintenance/forgetting.h"

namespace halite::storage::engine {

class Expiry {
 public:
  // `forgetting`, which outlives it, is told of every slot before it goes.
  Expiry(std::shared_ptr<Core> core, Forgetting& forgetting, prometheus::Registry& registry);

  // Looks through all slots, at most every expiry_interval_ms.
  [[nodiscard]] Result<void> run_due(const Breathe& breathe);

 private:
  [[nodiscard]] Result<void> run(TimestampMs now, const Breathe& breathe);
  [[nodiscard]] Result<std::vector<StoredSlot>> slots_of(std::uint32_t shard,
                                                         const Breathe& breathe) const;
  [[nodiscard]] Result<void> remove(std::uint32_t shard, const StoredSlot& slot,
                                    const Breathe& breathe);
  [[nodiscard]] Result<bool> stopped_by_jump(TimestampMs now, const Breathe& breathe);
  [[nodiscard]] Result<bool> ahead_of_data(TimestampMs now, std::int64_t by_ms,
                                           const Breathe& breathe);
  [[nodiscard]] bool expired(std::uint32_t shard, const StoredSlot& slot, TimestampMs now) const;

  const std::shared_ptr<Core> core_;
  Forgetting& forgetting_;
  TimestampMs last_run_ms_ = INT64_MIN;  // of this process
  std::set<SlotLap> unreadable_;         // were removed as far as that can be
  bool warned_ = false;                  // of the clock, since it was last right
  prometheus::Counter& slots_;
  prometheus::Gauge& stopped_;
};

}  // namespace halite::storage::engine
