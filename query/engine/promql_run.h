// Runs what query/engine/promql.h describes, within a query's turn and limits.
#pragma once

#include <memory>
#include <string>

#include "common/threads/task.h"
#include "query/engine/promql.h"
#include "query/engine/scheduler.h"
#include "query/engine/stepped_run.h"
#include "query/limits.h"
#include "storage/api/point_store.h"

namespace halite::storage {
class CounterStore;
}  // namespace halite::storage

namespace halite::query {

struct PromqlStores {
  storage::PointStore* points;
  storage::CounterStore* counters;  // null: there are none
};

// The stores and the scheduler outlive these.
Task<std::shared_ptr<const PromqlAnswer>> run_promql(PromqlStores stores, Scheduler* scheduler,
                                                     PromqlQuestion question, QueryLimits limits,
                                                     RunContext context);

Task<std::shared_ptr<const FoundSeries>> run_series_search(PromqlStores stores,
                                                           SeriesQuestion question,
                                                           std::unique_ptr<SteppedRun> run);

// The names of the labels of all series that are found.
Task<FoundNames> run_label_names(PromqlStores stores, SeriesQuestion question,
                                 std::unique_ptr<SteppedRun> run);

// The values that a label has in all series that are found.
Task<FoundNames> run_label_values(PromqlStores stores, std::string label, SeriesQuestion question,
                                  std::unique_ptr<SteppedRun> run);

[[nodiscard]] promql::ParseOptions parse_options(const QueryLimits& limits);

}  // namespace halite::query
