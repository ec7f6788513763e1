// Runs one sub-query: fetches, merges and groups its series.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "common/threads/task.h"
#include "query/answer.h"
#include "query/plan/plan.h"
#include "query/query_budget.h"
#include "query/question.h"
#include "query/scan/fetch_limits.h"
#include "storage/api/point_store.h"

namespace halite::storage {
class Metadata;
}

namespace halite::query {

// The query for the store.
[[nodiscard]] storage::SeriesQuery series_query(const SubQuestion& question,
                                                bool skip_unknown_values);

// Reads `source`: the store itself, or rollups of its series. All references outlive the task.
// Without metadata, answers have no annotations. The output points stay counted in `budget`.
Task<std::vector<AnswerSeries>> run_sub_query(
    storage::PointStore& store, storage::BlockSource& source, storage::Metadata* metadata,
    std::shared_ptr<const storage::Selection> selection, const SubQuestion& question,
    const SubPlan& plan, std::size_t query_index, std::shared_ptr<QueryBudget> budget,
    FetchMeter& meter);

// Runs the sub-query by a narrow plan (plan/plan.h), in one window. Returns nothing if series
// need neighbouring points that only `whole` reads.
Task<std::optional<std::vector<AnswerSeries>>> run_narrow_sub_query(
    storage::PointStore& store, storage::Metadata* metadata,
    std::shared_ptr<const storage::Selection> selection, const SubQuestion& question,
    const SubPlan& narrow, const SubPlan& whole, std::size_t query_index,
    std::shared_ptr<QueryBudget> budget, FetchMeter& meter);

}  // namespace halite::query
