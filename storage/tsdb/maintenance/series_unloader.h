// Unloads series that get no points: memory follows the series in use, not all that were ever
// seen. Their rows and points stay; a query or a new point loads them again.
//
// A series is idle if it has no points in a head, and had none in a head that was flushed within
// EngineOptions::series_idle_ms. Series that are idle at two looks in a row become removal
// candidates, once they are an eighth of all series, and are removed in the steps of epochs.h. The
// second look keeps series that a query has just loaded. Names without a series in memory follow.
//
//   Threads  for the maintenance thread.
//   Cost     a look reads the ids of all series: some milliseconds a million. An unload makes the
//            series cache of ingest and the known active series of queries begin anew.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include "storage/catalog/names/name_remover.h"
#include "storage/tsdb/chunk_db/yield.h"
#include "storage/tsdb/core/engine_context.h"

namespace halite::storage::engine {

class SeriesUnloader {
 public:
  SeriesUnloader(std::shared_ptr<EngineContext> context, prometheus::Registry& registry);

  // Call after a flush, with the newest point of each series of the head, by shard.
  void flushed(const std::vector<std::vector<LastPoint>>& newest);

  // While it is busy, all removal candidates are its own: nothing else may mark or remove any.
  [[nodiscard]] bool busy() const { return phase_ != Phase::kIdle; }

  // Runs one step. False: nothing to do but wait.
  [[nodiscard]] Result<bool> step(const YieldFn& yield);

 private:
  enum class Phase : std::uint8_t {
    kIdle,
    kCandidates,
    kRemoved,
    kNameCandidates,
    kNamesRemoved,
  };
  // Series that some heads had.
  struct Flushed {
    TimestampMs time = 0;  // of the last flush
    IdSet series;
  };

  [[nodiscard]] bool look();
  [[nodiscard]] IdSet series_in_heads() const;
  [[nodiscard]] Result<void> remove(const YieldFn& yield);
  void reclaim();
  void mark_names();
  void remove_names();

  const std::shared_ptr<EngineContext> context_;
  NameRemover& names_;
  TimestampMs looked_ms_;
  std::deque<Flushed> flushed_;  // oldest first
  // All points that were stored at the first look are before this time, and so are those that were
  // flushed later with times ahead of the clock.
  std::optional<TimestampMs> stored_before_;
  IdSet idle_;  // at the last look
  Phase phase_ = Phase::kIdle;
  std::uint64_t epoch_ = 0;  // waits for the release of pins older than this
  SeriesTable::Removed removed_;
  NameRemover::Removed removed_names_;
  prometheus::Counter& unloaded_;
};

}  // namespace halite::storage::engine
