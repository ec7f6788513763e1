// What a query would cost: see QueryEngine::explain().
#include <limits>
#include <set>
#include <utility>

#include "query/answer/explain.h"
#include "query/answer/group.h"
#include "query/engine/engine_impl.h"
#include "query/engine/sub_query.h"
#include "query/plan/view_choice.h"

namespace halite::query {

Task<std::vector<ExplainedView>> QueryEngine::Impl::explain_views(const Question* question,
                                                                  const SubQuestion* sub,
                                                                  TimeRange range) {
  std::vector<ExplainedView> views;
  if (sources.views == nullptr) co_return views;
  const auto fitting = fitting_views(*sources.views, *question, *sub);
  bool answered = false;
  for (const auto& view : fitting) {
    auto asking = why_not_now(view.get(), question, sub, range);
    CO_TRY(std::string reason, co_await std::move(asking));
    if (reason.empty() && std::exchange(answered, true)) reason = "another view has less to read";
    views.push_back({.name = view->rule.name,
                     .why_not = std::move(reason),
                     .approximate = reads_sketches(*sub)});
  }
  for (const auto& view : sources.views->views_of(sub->metric)) {
    const std::string_view reason = why_not(view->rule, *question, *sub);
    if (!reason.empty()) views.push_back({.name = view->rule.name, .why_not = std::string(reason)});
  }
  co_return views;
}

Task<std::shared_ptr<const Explanation>> QueryEngine::Impl::explain(
    Question question, std::shared_ptr<QueryBudget> budget) {
  auto explanation = std::make_shared<Explanation>();
  explanation->question = std::move(question);
  for (std::size_t i = 0; i < explanation->question.queries.size(); ++i) {
    auto one = explain_one(&explanation->question, i, budget);
    CO_TRY(ExplainedQuery query, co_await std::move(one));
    explanation->queries.push_back(query);
  }
  finish_explanation(limits, *explanation);
  co_return explanation;
}

Task<ExplainedQuery> QueryEngine::Impl::explain_one(const Question* question, std::size_t index,
                                                    std::shared_ptr<QueryBudget> budget) {
  const SubQuestion& sub = question->queries[index];
  // If a rollup would answer, this still estimates the points behind it: an upper limit.
  CO_TRY(const std::vector<ReadChoice> choices,
         choose_reads(sub, sources.rollups, sources.counters, sources.tags, question->begin));
  const ReadChoice& first = choices.front();
  CO_TRY(const SubPlan plan,
         make_plan(*question, first.question, limits.output_points_max, first.rollup));
  storage::SeriesQuery wanted = series_query(sub, skip_unknown_values);
  wanted.regexp_bytes_max = limits.regexp_bytes_max;
  auto selecting = store.select(std::move(wanted), {.budget = budget});
  CO_TRY(const std::shared_ptr<const storage::Selection> selection, co_await std::move(selecting));
  auto estimating = store.estimate(selection, plan.scan);
  CO_TRY(const storage::ReadEstimate estimate, co_await std::move(estimating));
  auto looking = store.lookup(selection, 0);
  CO_TRY(const storage::PinnedSeries ids, co_await std::move(looking));
  const Groups groups(sub, plan);
  std::set<Bytes> keys;
  for (const storage::SeriesId id : ids) keys.insert(groups.key_of(store.series(id)));
  ExplainedQuery query = explain_query(plan, estimate, keys.size(), limits);
  query.shards = store.shard_count();
  auto viewing = explain_views(question, &sub, plan.scan);
  CO_TRY(query.views, co_await std::move(viewing));
  co_return query;
}

Task<std::shared_ptr<const Explanation>> QueryEngine::explain(Question question,
                                                              RunContext context) {
  QueryLimits without_series = impl_->limits;
  without_series.series_max = std::numeric_limits<std::uint64_t>::max();
  std::shared_ptr<SpanLog> spans = context.spans;
  auto budget = std::make_shared<QueryBudget>(without_series, impl_->clock, std::move(context));
  auto work = impl_->explain(std::move(question), std::move(budget));
  return impl_->scheduler.run_in_turn(Pace::kAll, std::move(work), std::move(spans));
}

}  // namespace halite::query
