#include "query/selection/present_series.h"

#include <algorithm>
#include <utility>

#include "common/threads/memory_reservation.h"
#include "storage/cells/counters/counter_store.h"

namespace halite::query {

Task<void> keep_present(storage::PointStore* store, const storage::CounterStore* counters,
                        TimeRange range, std::shared_ptr<QueryBudget> budget, FoundMetric* found) {
  const std::size_t count = found->series.size();
  if (count == 0 || count > kPresentSeriesMax || !store->has_local_points()) {
    co_return Result<void>();
  }
  const storage::Series& first = store->series(found->series.front());
  if (counters != nullptr && counters->rule_of(first.metric) != nullptr) co_return Result<void>();
  MemoryReservation held(std::move(budget));
  // The list, and its copy in another order.
  CO_TRY_VOID(held.add(2 * count * sizeof(storage::LastPoint)));
  auto looking = store->last(found->selection, range);
  CO_TRY(const storage::PinnedLastPoints points, co_await std::move(looking));
  found->series.erase_if([&points](storage::SeriesId id) {
    return !std::ranges::binary_search(points, id, {}, &storage::LastPoint::series);
  });
  co_return Result<void>();
}

}  // namespace halite::query
