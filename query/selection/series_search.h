// Finds the series that selectors name, metric by metric.
//
//   Limits   query.series_max, query.timeout_ms and query.bytes_max of the budget.
//   Threads  one call at a time. It may block the thread on disk reads.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/threads/task.h"
#include "query/query_budget.h"
#include "query/selector/selector.h"
#include "storage/api/point_store.h"

namespace halite::storage {
class CounterStore;
}  // namespace halite::storage

namespace halite::query {

// The series of one metric that at least one selector names, and no others.
struct FoundMetric {
  std::shared_ptr<const storage::Selection> selection;  // null: there are none
  storage::PinnedSeries series;                         // each once, if they were asked for
};

class SeriesSearch {
 public:
  // Series without points at `since` or later need not be found, unless they are counters. The
  // stores outlive the search; `counters` may be null.
  SeriesSearch(storage::PointStore& store, std::vector<Selector> selectors, TimestampMs since,
               std::shared_ptr<QueryBudget> budget,
               const storage::CounterStore* counters = nullptr);

  // The metrics that any selector may name, in byte order. Counts the memory of the list.
  Task<std::vector<std::string>> metrics();

  // Counts the series against the budget. Without `lists` it returns the selection alone.
  Task<FoundMetric> find(std::string metric, bool lists = true);

 private:
  using SelectionPtr = std::shared_ptr<const storage::Selection>;

  Task<SelectionPtr> select(storage::SeriesQuery query);
  Task<FoundMetric> select_tsuids(std::string metric, std::set<Bytes> tsuids);
  [[nodiscard]] storage::SeriesQuery query_of(std::string metric) const;

  storage::PointStore& store_;
  const std::vector<Selector> selectors_;
  const TimestampMs since_;
  const std::shared_ptr<QueryBudget> budget_;
  const storage::CounterStore* const counters_;
};

}  // namespace halite::query
