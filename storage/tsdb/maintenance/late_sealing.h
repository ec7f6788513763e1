// What came for slots that were sealed: it stays as it was flushed, apart from them, until there is
// so much of a series that its chunk is worth writing anew. Only that series' is.
//
//   Threads  for the maintenance thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "storage/tsdb/core/core.h"
#include "storage/tsdb/maintenance/seal_batch.h"

namespace halite::storage::engine {

class LateSealing {
 public:
  explicit LateSealing(std::shared_ptr<Core> core) : core_(std::move(core)) {}

  // Looks through the slots that got something since the last look, at most every
  // seal_late_interval_ms. The points written.
  [[nodiscard]] Result<std::uint64_t> run_due(SealBatch& batch, const Breathe& breathe);
  // Every series of every slot.
  [[nodiscard]] Result<std::uint64_t> run_all(SealBatch& batch, const Breathe& breathe);

 private:
  struct Outcome {
    std::uint64_t points = 0;
    bool complete = true;  // the slot has no late cells any more
    bool ended = false;    // breathe() said so
    bool held = false;     // some cells are left to a pending delete
  };
  [[nodiscard]] Result<std::uint64_t> run(SealBatch& batch, const Breathe& breathe, bool all);
  [[nodiscard]] Result<Outcome> seal(const SlotLap& lap, SealBatch& batch, const Breathe& breathe,
                                     bool all);
  [[nodiscard]] bool is_expired(const SlotLap& lap) const;
  // Takes the series of a lap that have late cells, with all their cells, until it says false. What
  // is damaged is passed over, and then the answer is false. `held`: so are cells that a pending
  // delete comes before.
  using Visit = std::function<Result<bool>(SeriesRewrite&)>;
  [[nodiscard]] Result<bool> visit(const SlotLap& lap, const Visit& take, bool& held);
  struct AddCells {
    const Bytes& prefix;  // of their keys
    std::uint64_t flushes_end = 0;
    bool& held;
  };
  [[nodiscard]] static Result<bool> add_cells(const UidWidths& widths, Cursor& cursor,
                                              const AddCells& add, SeriesRewrite& rewrite);
  [[nodiscard]] Result<bool> any_pays(const SlotLap& lap, const Breathe& breathe, Outcome& outcome);
  [[nodiscard]] bool pays(const SeriesRewrite& rewrite, std::uint32_t percent) const;

  const std::shared_ptr<Core> core_;
  TimestampMs last_look_ms_ = INT64_MIN;
  std::map<SlotLap, std::uint32_t> looked_at_;  // Unsealed::touches then
};

}  // namespace halite::storage::engine
