// Chunks in their final form: the chunks of a slot that is over, of each series, as one, densely
// coded; what tombstones and later points hide is gone for good. What comes for a slot after that
// is late_sealing.h's.
//
// Series of which something is damaged stay as they are, and so does the line of their slot.
//
// A series at a time, and between two of them whatever is more urgent: flushes go on meanwhile, and
// a close ends it with nothing lost, for what was sealed until then is taken in or made anew.
//
//   Threads  for the maintenance thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include "storage/tsdb/core/engine_context.h"
#include "storage/tsdb/maintenance/late_sealing.h"
#include "storage/tsdb/maintenance/seal_batch.h"

namespace halite::storage::engine {

class Sealing {
 public:
  Sealing(std::shared_ptr<EngineContext> context, prometheus::Registry& registry);

  // Slots of these generations got chunks now.
  void on_flush(const std::set<std::int64_t>& periods);

  // Seals the slots that are over and quiet, or have been flushed into often; late data where that
  // pays; and merges files where that pays.
  [[nodiscard]] Result<void> run_due(const YieldFn& yield);
  [[nodiscard]] Result<void> seal_everything(const YieldFn& yield);

 private:
  struct Dirty {
    TimestampMs since_ms = 0;              // the last flush
    std::uint32_t flushes = 0;             // since it was sealed
    std::uint32_t flushes_max = kFlushes;  // then it is sealed although it is not over
    TimestampMs not_before_ms = 0;         // sealing it failed, or a pending delete held cells
    bool blocked = false;                  // the sealing under way left cells to a pending delete
    SeriesRewrite::Written written = {};   // by the sealing under way
  };
  // A slot that is flushed into so often is sealed early: a series' chunks stay few, and so do the
  // files that a question must look into. The next time after twice as many: its files are merged
  // each time. And so on, as long as half of what is written was sealed before.
  static constexpr std::uint32_t kFlushes = 24;

  void find_slots();
  [[nodiscard]] bool is_over(std::int64_t period) const;
  [[nodiscard]] Result<void> seal(const std::set<std::int64_t>& periods, const YieldFn& yield);
  // As seal(), for each by itself; those that fail wait for the next time.
  [[nodiscard]] Result<void> seal_separately(const std::set<std::int64_t>& periods,
                                             const YieldFn& yield);
  [[nodiscard]] static bool waits_longer(const Dirty& dirty);
  // False: yield() ended it.
  [[nodiscard]] Result<bool> seal_partition(const Partition& partition, SealBatch& batch,
                                            const YieldFn& yield);
  // The same.
  [[nodiscard]] Result<bool> merge_early(const Partition& partition, SealBatch& batch,
                                         const YieldFn& yield);
  struct PartitionSeal {
    Partition partition;
    UnsealedRange line;
    std::int64_t oldest_alive = 0;  // generation
    bool damaged = false;           // some of its series are
    bool blocked = false;           // a pending delete comes between some cells and the others
  };
  [[nodiscard]] Result<bool> rewrite(PartitionSeal& partition, SealBatch& batch,
                                     const YieldFn& yield);
  // Damage is no error, but noted.
  [[nodiscard]] Result<void> write(SeriesRewrite& series, PartitionSeal& partition,
                                   SeriesRewrite::Files& files);
  [[nodiscard]] Result<void> merge(const CompactionRule& rule, const YieldFn& yield);
  void note_sealed(std::uint64_t points, const SealBatch& batch);

  const std::shared_ptr<EngineContext> context_;
  LateSealing late_;
  std::map<std::int64_t, Dirty> dirty_;  // by generation
  std::shared_ptr<const UnsealedRanges> looked_at_;
  std::map<Partition, std::uint32_t> damaged_;  // UnsealedRange::touches when they were found so
  bool compaction_due_ = true;                  // what a crash left unmerged, too
  prometheus::Counter& sealed_points_;
  prometheus::Counter& sealed_bytes_;
};

}  // namespace halite::storage::engine
