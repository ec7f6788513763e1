// What came for slots that were sealed: it stays as it was flushed, apart from them, until there is
// so much of a series that its chunk is worth writing anew. Only that series' is.
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

  // Looks through the slots that got something since the last look, at most every
  // seal_late_interval_ms. The points written.
  [[nodiscard]] Result<std::uint64_t> run_due(SealBatch& batch, const YieldFn& yield);
  // Every series of every slot.
  [[nodiscard]] Result<std::uint64_t> run_all(SealBatch& batch, const YieldFn& yield);

 private:
  struct SealOutcome {
    std::uint64_t points = 0;
    bool complete = true;  // the slot has no late cells any more
    bool ended = false;    // yield() said so
    bool blocked = false;  // some cells are left to a pending delete
  };
  [[nodiscard]] Result<std::uint64_t> run(SealBatch& batch, const YieldFn& yield, bool all);
  [[nodiscard]] Result<SealOutcome> seal(const Partition& partition, SealBatch& batch,
                                         const YieldFn& yield, bool all);
  [[nodiscard]] bool is_expired(const Partition& partition) const;
  // Takes the series of a lap that have late cells, with all their cells, until it says false. What
  // is damaged is passed over, and then the answer is false. `blocked`: so are cells that a pending
  // delete comes before.
  using Visit = std::function<Result<bool>(SeriesRewrite&)>;
  [[nodiscard]] Result<bool> visit(const Partition& partition, const Visit& take, bool& blocked);
  struct AddCells {
    const Bytes& prefix;  // of their keys
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
  std::map<Partition, std::uint32_t> looked_at_;  // UnsealedRange::touches then
};

}  // namespace halite::storage::engine
