// Finds the series that selectors of PromQL name, and their labels (query/engine/promql.h), within
// the limits of a run.
#pragma once

#include <memory>
#include <string>

#include "common/threads/task.h"
#include "query/engine/promql.h"
#include "query/engine/promql_stores.h"
#include "query/engine/stepped_run.h"

namespace halite::query {

// The stores outlive these.
Task<std::shared_ptr<const FoundSeries>> run_series_search(PromqlStores stores,
                                                           SeriesQuestion question,
                                                           std::unique_ptr<SteppedRun> run);

// The names of the labels of all series that are found.
Task<FoundNames> run_label_names(PromqlStores stores, SeriesQuestion question,
                                 std::unique_ptr<SteppedRun> run);

// The values that a label has in all series that are found.
Task<FoundNames> run_label_values(PromqlStores stores, std::string label, SeriesQuestion question,
                                  std::unique_ptr<SteppedRun> run);

}  // namespace halite::query
