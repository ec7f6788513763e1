// What queries in PromQL read.
#pragma once

#include <utility>

#include "common/threads/task.h"
#include "storage/api/point_store.h"
#include "storage/cells/counters/counter_store.h"

namespace halite::query {

// The stores outlive it.
struct PromqlStores {
  storage::PointStore* points;
  storage::CounterStore* counters;  // null: there are none

  // Call it before a search: other processes may have begun to count metrics. The object outlives
  // the task.
  [[nodiscard]] Task<void> refresh() const {
    if (counters == nullptr || !counters->is_stale()) co_return Result<void>();
    auto refreshing = counters->refresh();
    co_return co_await std::move(refreshing);
  }
};

}  // namespace halite::query
