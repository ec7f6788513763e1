// Series that have no points any more go: out of the series table, out of memory, and their ids are
// used again (docs/decisions/0012).
//
// Looked at are those that had points in a slot that expired, and those of which points were
// deleted. Such a series is doomed first; whoever interns it or puts a point spares it. Then it is
// looked for in the head and in every slot. What is left when all holds from before are gone is
// removed, its row first, and what was removed is reclaimed when all holds from before that are
// gone. What a crash interrupts begins again with a look at all series. Names follow their last
// series (name_sweep.h).
//
//   Threads  for the maintenance thread, but allow().
//   Cost     a step looks at a thousand series at most, and breathes between two of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include "storage/tsdb/chunk_db/yield.h"
#include "storage/tsdb/core/engine_context.h"
#include "storage/tsdb/maintenance/name_gc.h"

namespace halite::storage::engine {

class SeriesGc {
 public:
  SeriesGc(std::shared_ptr<EngineContext> context, prometheus::Registry& registry);

  // From now on, except what the rules say. Nothing is forgotten before.
  void allow(GcRules rules);

  // The cells of a slot are about to be dropped.
  [[nodiscard]] Result<void> note_slot(std::uint32_t shard, std::uint32_t slot,
                                       const YieldFn& yield);
  // Points of these may have been deleted.
  [[nodiscard]] Result<void> note_deleted(std::span<const SeriesId> series);
  // Deleted points and their tombstones may be gone for good.
  void note_sealed();

  // One step. False: there is nothing to do but wait.
  [[nodiscard]] Result<bool> step(const YieldFn& yield);

 private:
  enum class Phase : std::uint8_t { kChecking, kCandidates, kRemoved };
  struct SeriesToCheck {
    Bytes tsuid;
    std::uint32_t shard = 0;
    bool deleted = false;  // from, so it may have tombstones
  };

  [[nodiscard]] bool allowed() const { return allowed_.load(); }
  [[nodiscard]] Result<void> note_unfinished();
  [[nodiscard]] Result<void> begin();
  [[nodiscard]] Result<bool> check_some(const YieldFn& yield);
  [[nodiscard]] Result<std::vector<Bytes>> find_without_cells(
      std::uint32_t shard, std::span<const SeriesToCheck> to_check, const YieldFn& yield);
  [[nodiscard]] Result<void> mark_candidates(std::uint32_t shard, std::vector<Bytes> tsuids,
                                             const YieldFn& yield);
  [[nodiscard]] std::vector<SeriesId> find_without_head(std::uint32_t shard,
                                                        const std::vector<SeriesId>& series);
  [[nodiscard]] Result<void> load(std::vector<Bytes> tsuids);
  [[nodiscard]] Result<void> read_some();
  void check_deleted();
  [[nodiscard]] Result<bool> finish();
  [[nodiscard]] Result<void> remove(const YieldFn& yield);
  [[nodiscard]] Result<std::vector<SeriesId>> find_removable(std::vector<SeriesId> series,
                                                             const YieldFn& yield);
  void reclaim();

  const std::shared_ptr<EngineContext> context_;
  std::atomic<bool> allowed_ = false;
  std::mutex mutex_;
  GcRules rules_;  // guarded by mutex_; the rest is the thread's own

  bool begun_ = false;
  bool unfinished_ = false;  // as noted in the chunks' database
  Phase phase_ = Phase::kChecking;
  std::uint64_t epoch_ = 0;              // holds from before it are waited for
  std::unique_ptr<Scanner> all_;         // of the series table, while all are looked at
  std::vector<SeriesToCheck> to_check_;  // to be looked at
  boost::unordered_flat_map<Bytes, std::uint32_t> deleted_;  // and shards: once they are sealed
  TimestampMs deleted_checked_ms_ = 0;
  SeriesTable::Removed removed_;
  NameGc names_;
  prometheus::Counter& forgotten_;
  prometheus::Gauge& known_;
  prometheus::Gauge& known_bytes_;
};

}  // namespace halite::storage::engine
