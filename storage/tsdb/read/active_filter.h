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
#include "storage/tsdb/core/engine_context.h"

namespace halite::storage::engine {

class ActiveFilter {
 public:
  // What is asked: to be made after the scan's view of the chunks. `heads`: those whose points are
  // not in the chunks.
  struct ActiveQuery {
    std::uint32_t shard = 0;
    std::span<const std::int64_t> periods;
    std::span<const std::shared_ptr<Head>> heads;
  };
  // Looks at what is stored of the metric where that is not known yet and the selection would cost
  // about as much as that.
  static Result<ActiveFilter> make(EngineContext& context, const RowSelection& selection,
                                   const ActiveQuery& query);

  // Those that may have points, in their order.
  [[nodiscard]] std::vector<SeriesId> alive(std::span<const SeriesId> series) const;

  // False: no chunk of that generation is the series'.
  [[nodiscard]] bool may_be_stored(std::int64_t period, SeriesId id) const;

 private:
  explicit ActiveFilter(const ActiveQuery& query)
      : shard_(query.shard), heads_(query.heads.begin(), query.heads.end()) {}

  std::uint32_t shard_;
  std::vector<std::shared_ptr<Head>> heads_;
  // By generation, ascending; null: not known.
  std::vector<std::pair<std::int64_t, std::shared_ptr<const IdSet>>> stored_;
};

// The series of a metric that have cells in one generation of a slot. kNotFound when one of them is
// not in memory.
[[nodiscard]] Result<IdSet> find_stored_series(const EngineContext& context,
                                               const ActiveSeries::ShardPeriod& shard_period,
                                               std::uint64_t metric_uid);

}  // namespace halite::storage::engine
