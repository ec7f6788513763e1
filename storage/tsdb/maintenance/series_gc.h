// Garbage collection of series: removes series without points from the series table and from
// memory, and frees their ids for reuse (docs/decisions/0012).
//
// It checks series that had points in an expired slot or whose points were deleted. Such a series
// first becomes a removal candidate; interning it or appending a point ends that. Then it is
// searched for in the heads and in every slot. Once all older pins are released, the remaining
// candidates are removed, rows first. Once all pins older than the removal are released, their ids
// are freed. After a crash, all series are checked again. Names are removed after their last series
// (name_gc.h).
//
//   Threads  for the maintenance thread, except allow().
//   Cost     a step checks at most a thousand series, and yields between two of them.
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

// Call when all pins older than the removal are released: their ids may be used again.
void reclaim_series(EngineContext& context, const SeriesTable::Removed& removed);

class SeriesGc {
 public:
  SeriesGc(std::shared_ptr<EngineContext> context, prometheus::Registry& registry);

  // Enables the collection, within the rules. Nothing is removed before.
  void allow(GcRules rules);

  // Call it before the cells of a slot are dropped.
  [[nodiscard]] Result<void> note_slot(std::uint32_t shard, std::uint32_t slot,
                                       const YieldFn& yield);
  // Call it when points of these series may have been deleted.
  [[nodiscard]] Result<void> note_deleted(std::span<const SeriesId> series);
  // Call it when deleted points and their tombstones may have been removed for good.
  void note_sealed();

  // Runs one step. False: nothing to do but wait.
  [[nodiscard]] Result<bool> step(const YieldFn& yield);

  [[nodiscard]] bool allowed() const { return allowed_.load(); }
  // Series or names are on their way out: nothing else may mark or remove candidates.
  [[nodiscard]] bool has_candidates() const {
    return phase_ != Phase::kChecking || context_->registry.table().has_candidates() ||
           names_.has_candidates();
  }

 private:
  enum class Phase : std::uint8_t { kChecking, kCandidates, kRemoved };
  struct SeriesToCheck {
    Bytes tsuid;
    std::uint32_t shard = 0;
    bool deleted = false;  // points were deleted, so it may have tombstones
  };

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

  const std::shared_ptr<EngineContext> context_;
  std::atomic<bool> allowed_ = false;
  std::mutex mutex_;
  GcRules rules_;  // guarded by mutex_; the rest is the thread's own

  bool begun_ = false;
  bool unfinished_ = false;  // as noted in the chunk database
  Phase phase_ = Phase::kChecking;
  std::uint64_t epoch_ = 0;              // waits for the release of pins older than this
  std::unique_ptr<Scanner> all_;         // of the series table, while all series are checked
  std::vector<SeriesToCheck> to_check_;  // still to be checked
  boost::unordered_flat_map<Bytes, std::uint32_t> deleted_;  // with shards: checked once sealed
  TimestampMs deleted_checked_ms_ = 0;
  SeriesTable::Removed removed_;
  NameGc names_;
  prometheus::Counter& forgotten_;
  prometheus::Gauge& known_;
  prometheus::Gauge& known_bytes_;
};

}  // namespace halite::storage::engine
