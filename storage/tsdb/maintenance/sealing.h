// Rewrites the chunks of slots that have ended into their final form: one densely encoded chunk for
// each series, without points that tombstones or later points hide. late_sealing.h handles later
// data.
//
// A series with damage stays as it is, and so does the unsealed range of its slot.
//
// Works on one series at a time and yields in between, so flushes continue. A close ends it without
// loss: completed output is ingested, or written again later.
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

  // Notes that slots of these periods received chunks, some of them sealed ones.
  void on_flush(const std::set<std::int64_t>& periods, bool sealed_directly);

  // Periods below this one have ended, with the time in which their last points arrive.
  [[nodiscard]] std::int64_t over_before() const;

  // Seals slots that have ended and are quiet, or that had many flushes; seals late data and
  // compacts files where that pays.
  [[nodiscard]] Result<void> run_due(const YieldFn& yield);
  [[nodiscard]] Result<void> seal_everything(const YieldFn& yield);

 private:
  struct Dirty {
    TimestampMs since_ms = 0;              // of the last flush
    std::uint32_t flushes = 0;             // since it was sealed
    std::uint32_t flushes_max = kFlushes;  // it is sealed after so many, even before its end
    TimestampMs not_before_ms = 0;         // sealing it failed, or a pending delete blocked cells
    bool blocked = false;  // the running sealing skipped cells because of a pending delete
    SeriesRewrite::Written written = {};  // by the running sealing
  };
  // A slot with this many flushes is sealed early, so that series have few chunks and queries read
  // few files. This compacts all files of the slot. So the next early sealing comes after twice as
  // many flushes, as long as half of the written points were sealed before.
  static constexpr std::uint32_t kFlushes = 24;

  void find_slots();
  [[nodiscard]] bool is_over(std::int64_t period) const;
  [[nodiscard]] Result<void> seal(const std::set<std::int64_t>& periods, const YieldFn& yield);
  // As seal(), but one by one; those that fail wait for the next time.
  [[nodiscard]] Result<void> seal_separately(const std::set<std::int64_t>& periods,
                                             const YieldFn& yield);
  [[nodiscard]] static bool waits_longer(const Dirty& dirty);
  // False: yield() ended it.
  [[nodiscard]] Result<bool> seal_partition(const Partition& partition, SealBatch& batch,
                                            const YieldFn& yield);
  // False: yield() ended it.
  [[nodiscard]] Result<bool> merge_early(const Partition& partition, SealBatch& batch,
                                         const YieldFn& yield);
  struct PartitionSeal {
    Partition partition;
    UnsealedRange line;
    std::int64_t oldest_alive = 0;  // period
    bool damaged = false;           // some of its series are damaged
    bool blocked = false;           // a pending delete separates some cells from the others
  };
  [[nodiscard]] Result<bool> rewrite(PartitionSeal& partition, SealBatch& batch,
                                     const YieldFn& yield);
  // Damage is not an error, but noted.
  [[nodiscard]] Result<void> write(SeriesRewrite& series, PartitionSeal& partition,
                                   SeriesRewrite::Files& files);
  [[nodiscard]] Result<void> merge(const CompactionRule& rule, const YieldFn& yield);
  void note_sealed(std::uint64_t points, const SealBatch& batch);

  const std::shared_ptr<EngineContext> context_;
  LateSealing late_;
  std::map<std::int64_t, Dirty> dirty_;  // by period
  std::shared_ptr<const UnsealedRanges> looked_at_;
  std::map<Partition, std::uint32_t> damaged_;  // UnsealedRange::touches when damage was found
  bool compaction_due_ = true;                  // true: a crash may have left work
  prometheus::Counter& sealed_points_;
  prometheus::Counter& sealed_bytes_;
};

}  // namespace halite::storage::engine
