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

#include "storage/tsdb/chunk_db/slot_reader.h"
#include "storage/tsdb/chunk_db/yield.h"
#include "storage/tsdb/core/engine_context.h"
#include "storage/tsdb/maintenance/series_gc.h"

namespace halite::storage::engine {

class Expiry {
 public:
  // `series_gc`, which outlives it, is told of every slot before it goes.
  Expiry(std::shared_ptr<EngineContext> context, SeriesGc& series_gc,
         prometheus::Registry& registry);

  // Looks through all slots, at most every expiry_interval_ms.
  [[nodiscard]] Result<void> run_due(const YieldFn& yield);

 private:
  [[nodiscard]] Result<void> run(TimestampMs now, const YieldFn& yield);
  [[nodiscard]] Result<std::vector<StoredSlot>> slots_of(std::uint32_t shard,
                                                         const YieldFn& yield) const;
  [[nodiscard]] Result<void> remove(std::uint32_t shard, const StoredSlot& slot,
                                    const YieldFn& yield);
  [[nodiscard]] Result<bool> stopped_by_jump(TimestampMs now, const YieldFn& yield);
  [[nodiscard]] Result<bool> ahead_of_data(TimestampMs now, std::int64_t by_ms,
                                           const YieldFn& yield);
  [[nodiscard]] bool expired(std::uint32_t shard, const StoredSlot& slot, TimestampMs now) const;

  const std::shared_ptr<EngineContext> context_;
  SeriesGc& series_gc_;
  TimestampMs last_run_ms_ = INT64_MIN;  // of this process
  std::set<Partition> unreadable_;       // were removed as far as that can be
  bool warned_ = false;                  // of the clock, since it was last right
  prometheus::Counter& slots_;
  prometheus::Gauge& stopped_;
};

}  // namespace halite::storage::engine
