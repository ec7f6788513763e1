// The active series of a selection, for one scan of one shard.
//
//   Threads  not thread-safe; blocks.
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
  // The scan's shard and periods. Create it after the scan's view of the chunks. `heads`: those
  // whose points are not in the chunks.
  struct ActiveQuery {
    std::uint32_t shard = 0;
    std::span<const std::int64_t> periods;
    std::span<const std::shared_ptr<Head>> heads;
  };
  // Reads which series of the metric have stored cells, if that is unknown and the selection would
  // cost about as much.
  static Result<ActiveFilter> make(EngineContext& context, const RowSelection& selection,
                                   const ActiveQuery& query);

  // The series that may have points, in their order.
  [[nodiscard]] std::vector<SeriesId> alive(std::span<const SeriesId> series) const;

  // False: the series has no chunk in the period.
  [[nodiscard]] bool may_be_stored(std::int64_t period, SeriesId id) const;

 private:
  explicit ActiveFilter(const ActiveQuery& query)
      : shard_(query.shard), heads_(query.heads.begin(), query.heads.end()) {}

  std::uint32_t shard_;
  std::vector<std::shared_ptr<Head>> heads_;
  // By period, ascending; null: unknown.
  std::vector<std::pair<std::int64_t, std::shared_ptr<const IdSet>>> stored_;
};

}  // namespace halite::storage::engine
