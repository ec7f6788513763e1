// The parts of a QueryEngine: engine.cc answers queries, engine_explain.cc estimates them. Only
// these include this.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/registry.h>

#include "query/answer/explain.h"
#include "query/engine/engine.h"
#include "query/engine/promql_cache.h"
#include "query/engine/scheduler.h"
#include "query/plan/plan.h"
#include "query/query_budget.h"
#include "query/scan/fetch_limits.h"
#include "storage/views/view_store.h"

namespace halite::query {

struct QueryEngine::Impl {
  Impl(storage::PointStore& points, const Clock& time, QueryLimits bounds, bool skip_unknown,
       QueryExecutors executors, prometheus::Registry& registry, storage::Metadata* said,
       AuxiliarySources sides)
      : store(points),
        sources(std::move(sides)),
        clock(time),
        limits(std::move(bounds)),
        skip_unknown_values(skip_unknown),
        metadata(said),
        fetch_limits(limits.fetch, time),
        scheduler(limits, std::move(executors), time, registry),
        promql_cache(limits.promql.cache_bytes_max, registry) {}

  Task<void> answer(Answer* answer, Attempt attempt, Afterwork then);
  // The result of one sub-query.
  struct Read {
    std::shared_ptr<const storage::Selection> selection;
    TimeRange asked;
    std::size_t query = 0;  // its index in the query
    std::vector<AnswerSeries> series = {};
  };
  Task<std::shared_ptr<const storage::Selection>> select(storage::SeriesQuery wanted,
                                                         storage::ReadSource from,
                                                         std::shared_ptr<QueryBudget> budget);
  Task<Read> answer_one(Answer* answer, std::size_t index, Attempt attempt);
  Task<std::string> why_not_now(const storage::View* view, const Question* question,
                                const SubQuestion* sub, TimeRange range);
  Task<void> choose_view(const Question* question, ReadChoice* choice, SubPlan* plan);
  Task<std::vector<ExplainedView>> explain_views(const Question* question, const SubQuestion* sub,
                                                 TimeRange range);
  Task<std::vector<AnswerSeries>> answer_from_sketches(
      Answer* answer, std::size_t index, std::shared_ptr<const storage::Selection> selection,
      std::shared_ptr<QueryBudget> budget);
  static std::vector<AnswerSeries> all_series(std::span<Read> reads);

  Task<std::shared_ptr<const Explanation>> explain(Question question,
                                                   std::shared_ptr<QueryBudget> budget);
  Task<ExplainedQuery> explain_one(const Question* question, std::size_t index,
                                   std::shared_ptr<QueryBudget> budget);

  storage::PointStore& store;
  const AuxiliarySources sources;
  const Clock& clock;
  const QueryLimits limits;
  const bool skip_unknown_values;
  storage::Metadata* const metadata;  // may be null
  FetchLimits fetch_limits;
  Scheduler scheduler;
  PromqlCache promql_cache;
};

}  // namespace halite::query
