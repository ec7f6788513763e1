// Garbage collection of names: removes names without series from the name table and from memory.
// Their UIDs are assigned again after a quarantine (docs/decisions/0012, 0046).
//
// A scan of the name table and of the series table shows which UIDs have names, which are used, and
// when freed UIDs were freed. Unused names become removal candidates and are removed in the steps
// of name_remover.h, which note the time at their UIDs. UIDs after their quarantine lose that note
// and are then reused, as are those that a crash skipped. Nothing else is stored: the next scan
// finds what a crash interrupted.
//
//   Threads  for the maintenance thread, except allow().
//   Cost     a step reads some thousands of rows, and yields when it reads more.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include "storage/catalog/names/name_remover.h"
#include "storage/tsdb/chunk_db/yield.h"
#include "storage/tsdb/core/engine_context.h"
#include "storage/tsdb/maintenance/uid_quarantine.h"

namespace halite::storage::engine {

class NameGc {
 public:
  NameGc(std::shared_ptr<EngineContext> context, prometheus::Registry& registry);

  // Enables the collection, if the rules say so.
  void allow(GcRules rules);

  // Requests a scan because series were or may have been removed.
  void ask() { wanted_ = true; }
  // Skips the minimum interval before the next scan.
  void run_soon() { run_soon_ = true; }
  // A scan is requested or running.
  [[nodiscard]] bool pending() const { return allowed_ && (wanted_ || phase_ != Phase::kIdle); }

  [[nodiscard]] bool has_candidates() const {
    return phase_ == Phase::kCandidates || phase_ == Phase::kRemoving;
  }

  // Runs one step. False: nothing to do but wait.
  [[nodiscard]] Result<bool> step(const YieldFn& yield);

 private:
  enum class Phase : std::uint8_t {
    kIdle,
    kNames,
    kSeries,
    kReleasing,
    kUnused,
    kCandidates,
    kRemoving,
    kRemoved
  };
  using Uids = SeriesTable::NameUids;  // by kind

  [[nodiscard]] Result<void> begin_process();
  [[nodiscard]] Result<bool> run(const YieldFn& yield);
  [[nodiscard]] Result<bool> due() const;
  [[nodiscard]] bool is_short_of_ids() const;
  [[nodiscard]] Result<TimestampMs> quarantine_time() const;
  [[nodiscard]] Result<void> begin();
  [[nodiscard]] Result<void> read_names();
  [[nodiscard]] Result<void> note_name(BytesView row, const Cell& cell);
  [[nodiscard]] Result<void> read_series(const YieldFn& yield);
  void note_series(BytesView tsuid);
  [[nodiscard]] Result<void> note_kept(const YieldFn& yield);
  [[nodiscard]] Result<void> compare(const YieldFn& yield);
  [[nodiscard]] Result<void> classify_unused(NameKind kind, IdSet unused);
  [[nodiscard]] Result<bool> release_some();
  void mark_candidates();
  [[nodiscard]] Result<void> recheck(const YieldFn& yield);
  [[nodiscard]] Result<bool> remove_some();
  [[nodiscard]] Result<void> reclaim();

  const std::shared_ptr<EngineContext> context_;
  NameRemover& names_;
  std::atomic<bool> allowed_ = false;
  std::mutex mutex_;
  GcRules rules_;  // guarded by mutex_; the rest is the thread's own

  bool begun_ = false;
  bool noted_ = false;  // the chunk database notes that names were removed
  bool wanted_ = false;
  bool run_soon_ = true;  // the first scan need not wait
  TimestampMs begun_at_ms_ = 0;
  Phase phase_ = Phase::kIdle;
  std::uint64_t epoch_ = 0;            // waits for the release of pins older than this
  Sequence log_position_ = 0;          // candidates were named before it
  std::array<std::uint64_t, 3> ends_;  // only UIDs below are examined; by kind
  std::array<std::uint64_t, 3> reserved_upto_ = {};   // UIDs up to these are never reused; by kind
  std::unique_ptr<Scanner> scanner_;                  // of the current table
  Uids named_;                                        // have names
  Uids kept_;                                         // must stay
  Uids used_;                                         // by series
  std::array<std::vector<std::uint64_t>, 3> unused_;  // named, but neither kept nor used

  // UIDs of removed names; all by kind.
  std::array<UidQuarantine, 3> quarantine_;
  std::array<std::vector<std::uint64_t>, 3> released_;  // their notes of time must be removed
  std::array<std::uint64_t, 3> ready_ = {};             // for new names, at the last scan
  std::array<std::uint64_t, 3> given_ = {};             // to names, before that scan
  TimestampMs unmarked_since_ = 0;                      // UIDs without a note count as freed then
  NameRemover::Removed removed_;
  prometheus::Counter& forgotten_;
  prometheus::Gauge& known_;
  prometheus::Gauge& quarantined_;
};

}  // namespace halite::storage::engine
