// Seals late data. It stays separate, as flushed, until a series has enough of it to rewrite its
// sealed chunk. Only the chunks of that series are rewritten.
//
//   Threads  for the maintenance thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "storage/tsdb/core/engine_context.h"
#include "storage/tsdb/maintenance/seal_batch.h"

namespace halite::storage::engine {

class LateSealing {
 public:
  explicit LateSealing(std::shared_ptr<EngineContext> context) : context_(std::move(context)) {}

  // Examines the slots that received data since the last look, at most once each
  // seal_late_interval_ms. Returns the number of points written.
  [[nodiscard]] Result<std::uint64_t> run_due(SealBatch& batch, const YieldFn& yield);
  // Rewrites every series with late data in every slot.
  [[nodiscard]] Result<std::uint64_t> run_all(SealBatch& batch, const YieldFn& yield);

 private:
  struct SealOutcome {
    std::uint64_t points = 0;
    bool complete = true;  // the slot has no more late cells
    bool ended = false;    // yield() ended it
    bool blocked = false;  // some cells wait for a pending delete
  };
  [[nodiscard]] Result<std::uint64_t> run(SealBatch& batch, const YieldFn& yield, bool all);
  [[nodiscard]] Result<SealOutcome> seal(const Partition& partition, SealBatch& batch,
                                         const YieldFn& yield, bool all);
  [[nodiscard]] bool is_expired(const Partition& partition) const;
  // Visits the series of a partition that have late cells, with all their cells, until take()
  // returns false. Skips damaged ones, and then returns false. Sets `blocked` if it skipped cells
  // that must wait for a pending delete.
  using Visit = std::function<Result<bool>(SeriesRewrite&)>;
  [[nodiscard]] Result<bool> visit(const Partition& partition, const Visit& take, bool& blocked);
  struct AddCells {
    const Bytes& prefix;  // of the series' keys
    std::uint64_t flushes_end = 0;
    bool& blocked;
  };
  [[nodiscard]] static Result<bool> add_cells(const UidWidths& widths, Cursor& cursor,
                                              const AddCells& add, SeriesRewrite& rewrite);
  [[nodiscard]] Result<bool> any_pays(const Partition& partition, const YieldFn& yield,
                                      SealOutcome& outcome);
  [[nodiscard]] bool pays(const SeriesRewrite& rewrite, std::uint32_t percent) const;

  const std::shared_ptr<EngineContext> context_;
  TimestampMs last_look_ms_ = INT64_MIN;
  std::map<Partition, std::uint32_t> looked_at_;  // UnsealedRange::touches at the last look
};

}  // namespace halite::storage::engine
