// Answers percentiles of points from the sketches of a view: of all points of a group in each
// bucket of the downsampler. The answer has the form of histogram_query.h.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "common/threads/task.h"
#include "query/answer.h"
#include "query/plan/plan.h"
#include "query/query_budget.h"
#include "query/question.h"
#include "storage/api/point_store.h"

namespace halite::query {

// `view` is a source of sketches (storage/views/view_source.h) of the series of `store`. The plan
// has a downsampler of fixed intervals. All references outlive the task.
Task<std::vector<AnswerSeries>> run_sketch_query(
    storage::PointStore& store, storage::BlockSource& view,
    std::shared_ptr<const storage::Selection> selection, const SubQuestion& question,
    const SubPlan& plan, std::size_t query_index, QueryBudget& budget);

}  // namespace halite::query
