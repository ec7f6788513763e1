// Names that no series has any more go: out of the names table, out of memory, and their ids are
// given to new names after a quarantine (docs/decisions/0012, 0046).
//
// One look through the names table and one through the series table tell which ids have names,
// which are used, and when those that are freed were. What is used by none is doomed and removed in
// the steps of forgotten_names.h, which mark its id as freed. Ids whose quarantine is over lose the
// mark, and then, as those that a crash skipped, are used again. Nothing of it is kept anywhere
// else: what a crash cuts short is found by the next look.
//
//   Threads  for the maintenance thread, but allow().
//   Cost     a step looks at some thousands of rows, and breathes where it looks at more.
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

  // From now on, if the rules say so.
  void allow(GcRules rules);

  // Series went, or may have: there is to be a look.
  void ask() { wanted_ = true; }
  // It need not wait until the last one is long enough ago.
  void run_soon() { run_soon_ = true; }
  // Somebody asked and it is not over.
  [[nodiscard]] bool pending() const { return allowed_ && (wanted_ || phase_ != Phase::kIdle); }

  // One step. False: there is nothing to do but wait.
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
  bool noted_ = false;  // in the chunks' database: names went
  bool wanted_ = false;
  bool run_soon_ = true;  // the first need not wait
  TimestampMs begun_at_ms_ = 0;
  Phase phase_ = Phase::kIdle;
  std::uint64_t epoch_ = 0;                           // holds from before it are waited for
  Sequence log_position_ = 0;                         // what is looked at was named before it
  std::array<std::uint64_t, 3> ends_;                 // ids that are looked at are below; by kind
  std::array<std::uint64_t, 3> reserved_upto_ = {};   // no id up to these is used again; by kind
  std::unique_ptr<Scanner> scanner_;                  // of the table that is looked at
  Uids named_;                                        // have names
  Uids kept_;                                         // and are to stay
  Uids used_;                                         // by series
  std::array<std::vector<std::uint64_t>, 3> unused_;  // named, and neither kept nor used

  // Of ids whose names went; all by kind.
  std::array<UidQuarantine, 3> quarantine_;
  std::array<std::vector<std::uint64_t>, 3> released_;  // have marks that are to go
  std::array<std::uint64_t, 3> ready_ = {};             // for new names, at the last look
  std::array<std::uint64_t, 3> given_ = {};             // to names, before it
  TimestampMs unmarked_since_ = 0;                      // ids without a mark are free since
  NameRemover::Removed removed_;
  prometheus::Counter& forgotten_;
  prometheus::Gauge& known_;
  prometheus::Gauge& quarantined_;
};

}  // namespace halite::storage::engine
