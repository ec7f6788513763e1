// The series of a selection that have points in slots, for one scan of one shard.
//
//   Threads  for one at a time; it blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "storage/catalog/selection.h"
#include "storage/tsdb/core/core.h"

namespace halite::storage::engine {

class AliveFilter {
 public:
  // What is asked: to be made after the scan's view of the chunks. `heads`: those whose points are
  // not in the chunks.
  struct Asked {
    std::uint32_t shard = 0;
    std::span<const std::int64_t> generations;
    std::span<const std::shared_ptr<Head>> heads;
  };
  // Looks at what is stored of the metric where that is not known yet and the selection would cost
  // about as much as that.
  static Result<AliveFilter> make(Core& core, const RowSelection& selection, const Asked& asked);

  // Those that may have points, in their order.
  [[nodiscard]] std::vector<SeriesId> alive(std::span<const SeriesId> series) const;

  // False: no chunk of that generation is the series'.
  [[nodiscard]] bool may_be_stored(std::int64_t generation, SeriesId id) const;

 private:
  explicit AliveFilter(const Asked& asked)
      : shard_(asked.shard), heads_(asked.heads.begin(), asked.heads.end()) {}

  std::uint32_t shard_;
  std::vector<std::shared_ptr<Head>> heads_;
  // By generation, ascending; null: not known.
  std::vector<std::pair<std::int64_t, std::shared_ptr<const IdSet>>> stored_;
};

// The series of a metric that have cells in one generation of a slot. kNotFound when one of them is
// not in memory.
[[nodiscard]] Result<IdSet> find_stored_series(const Core& core, const AliveSeries::Place& place,
                                               std::uint64_t metric_uid);

}  // namespace halite::storage::engine
