// Runs a sub-query over histograms: their percentiles, or the counts in their buckets.
//
// Downsampling adds the histograms of a series. Grouping adds those of a group at each timestamp.
// There is no interpolation, no fill and no rate.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/threads/task.h"
#include "query/answer.h"
#include "query/plan/plan.h"
#include "query/query_budget.h"
#include "query/question.h"
#include "query/scan/fetch_limits.h"
#include "storage/api/point_store.h"
#include "storage/cells/rollups/histogram_cells.h"

namespace halite::query {

// What follows the metric's name: "_pct_99.9".
[[nodiscard]] std::string percentile_suffix(float percentile);

// Returns for each group, in OpenTSDB's order, a series for each percentile ("m_pct_99.9"), then a
// series for each bucket of the group's first histogram ("m_0.0_1.75", "m_UNDERFLOW",
// "m_OVERFLOW"). All references outlive the task. kInvalidArgument: a histogram's codec is not
// configured.
Task<std::vector<AnswerSeries>> run_histogram_query(
    const storage::HistogramCells& cells, std::shared_ptr<const storage::Selection> selection,
    const SubQuestion& question, const SubPlan& plan, std::size_t query_index, QueryBudget& budget,
    FetchMeter& meter);

}  // namespace halite::query
