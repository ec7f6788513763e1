// Removes whole slots once everything in them is older than the TTL.
//
// Expiry does not trust a clock jump. It stops and logs an error if the time is more than two spans
// after both the last run and the newest stored data. It continues when
// engine.expire_after_clock_jump confirms the clock, or the clock is set back. A clock that was set
// back removes only what was due by that time.
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
  // `series_gc` must outlive it. It is notified of every slot before its removal.
  Expiry(std::shared_ptr<EngineContext> context, SeriesGc& series_gc,
         prometheus::Registry& registry);

  // Examines all slots, at most once each expiry_interval_ms.
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
  TimestampMs last_run_ms_ = INT64_MIN;  // in this process
  std::set<Partition> unreadable_;       // removed as far as possible
  bool warned_ = false;                  // about the clock, since it was last right
  prometheus::Counter& slots_;
  prometheus::Gauge& stopped_;
};

}  // namespace halite::storage::engine
