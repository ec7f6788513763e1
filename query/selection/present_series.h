// Which series of a metric have points in a time.
#pragma once

#include <cstddef>
#include <memory>

#include "common/clock.h"
#include "common/threads/task.h"
#include "query/query_budget.h"
#include "query/selection/series_search.h"
#include "storage/api/point_store.h"

namespace halite::query {

// Above it all series stay: to look at each may read the disk.
inline constexpr std::size_t kPresentSeriesMax = 100'000;

// Leaves out the found series without points in the range. All stay if other machines would be
// asked for points, and if they are counters, whose points are elsewhere. `counters` may be null.
Task<void> keep_present(storage::PointStore* store, const storage::CounterStore* counters,
                        TimeRange range, std::shared_ptr<QueryBudget> budget, FoundMetric* found);

}  // namespace halite::query
