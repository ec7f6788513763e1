#include "query/engine/engine.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "query/answer/histogram_query.h"
#include "query/answer/query_annotations.h"
#include "query/answer/sketch_query.h"
#include "query/engine/engine_impl.h"
#include "query/engine/export_run.h"
#include "query/engine/promql_run.h"
#include "query/engine/scheduler.h"
#include "query/engine/series_run.h"
#include "query/engine/small_query.h"
#include "query/engine/sub_query.h"
#include "query/plan/plan.h"
#include "query/plan/view_choice.h"
#include "query/query_budget.h"
#include "storage/cells/counters/counter_store.h"
#include "storage/views/view_store.h"

namespace halite::query {
namespace {

// The time from which on points are read; the least time if anything else is read or shown.
TimestampMs begin_of_points(std::span<const ReadChoice> choices,
                            std::span<const Result<SubPlan>> plans) {
  TimestampMs begin = std::numeric_limits<TimestampMs>::max();
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const bool points = choices[i].source == nullptr || !choices[i].view.empty();
    if (!points || choices[i].question.wants_histograms() || !plans[i] ||
        plans[i]->empty_series_count)
      return storage::SeriesQuery{}.since;
    begin = std::min({begin, plans[i]->scan.begin, plans[i]->asked.begin});
  }
  return begin;
}

}  // namespace

Task<void> QueryEngine::Impl::answer(Answer* answer, Attempt attempt, Afterwork then) {
  std::vector<Read> reads;
  for (std::size_t i = 0; i < answer->question.queries.size(); ++i) {
    auto one = answer_one(answer, i, attempt);
    CO_TRY(Read read, co_await std::move(one));
    reads.push_back(std::move(read));
  }
  answer->series = all_series(reads);
  if (metadata != nullptr) {
    const QueryBudget::Timed timed(*attempt.budget, Stage::kAnnotations);
    auto finding = find_global_annotations(*metadata, answer->question);
    CO_TRY(answer->global_annotations, co_await std::move(finding));
  }
  if (then) CO_TRY_VOID(then(*answer, *attempt.budget));
  if (!answer->question.delete_points) co_return Result<void>{};
  for (const Read& read : reads) {
    if (!read.selection) continue;  // nothing was read
    if (metadata != nullptr) {
      const SubQuestion& question = answer->question.queries[read.query];
      auto removing = remove_annotations(store, *metadata, read.selection, question, read.asked);
      CO_TRY_VOID(co_await std::move(removing));
    }
    auto deleting = store.delete_range(read.selection, read.asked);
    CO_TRY_VOID(co_await std::move(deleting));
  }
  co_return Result<void>{};
}

// Moves the series out of the reads.
std::vector<AnswerSeries> QueryEngine::Impl::all_series(std::span<Read> reads) {
  if (reads.size() == 1) return std::move(reads.front().series);
  std::size_t count = 0;
  for (const Read& read : reads) count += read.series.size();
  std::vector<AnswerSeries> all;
  all.reserve(count);
  for (Read& read : reads) {
    std::ranges::move(read.series, std::back_inserter(all));
    read.series = {};
  }
  return all;
}

Task<std::shared_ptr<const storage::Selection>> QueryEngine::Impl::select(
    storage::SeriesQuery wanted, storage::ReadSource from, std::shared_ptr<QueryBudget> budget) {
  const QueryBudget::Timed timed(*budget, Stage::kSelect);
  auto selecting = store.select(std::move(wanted), {budget, from, budget});
  co_return co_await std::move(selecting);
}

// Why a view does not answer now; empty if it can. Single series are read from points as long as
// there are any: stores have totals of those, too, and their percentiles are exact.
Task<std::string> QueryEngine::Impl::why_not_now(const storage::View* view,
                                                 const Question* question, const SubQuestion* sub,
                                                 TimeRange range) {
  constexpr double kStoredMin = 0.5;
  const std::string_view never = why_not(view->rule, *question, *sub);
  if (!never.empty()) co_return std::string(never);
  const TimestampMs kept_from = sources.views->kept_from(sub->metric);
  if (!sub->percentiles.empty()) co_return std::string();  // nothing else has them
  if (reads_sketches(*sub)) {
    if (!question->approximate_views && question->end > kept_from) {
      co_return "percentiles of a view are approximate: set useViews to \"approximate\"";
    }
  } else if (!view->rule.group_by && range.begin >= kept_from) {
    co_return "single series are read from points until these expire";
  }
  auto asking = sources.views->stored_part(*view, sub->metric, range);
  CO_TRY(const double part, co_await std::move(asking));
  if (part < kStoredMin) co_return "less than half of the time is computed";
  co_return std::string();
}

// Lets a view answer if one can.
Task<void> QueryEngine::Impl::choose_view(const Question* question, ReadChoice* choice,
                                          SubPlan* plan) {
  for (auto& view : fitting_views(*sources.views, *question, choice->question)) {
    auto asking = why_not_now(view.get(), question, &choice->question, plan->scan);
    const Result<std::string> reason = co_await std::move(asking);
    if (!reason && reason.error().code == Errc::kNotFound) break;  // select() refuses the name
    if (!reason) co_return std::unexpected(reason.error());
    if (!reason->empty()) continue;
    choice->source = sources.views->source(view, choice->question.metric);
    choice->view = view->rule.name;
    plan->from_view = true;
    break;
  }
  co_return Result<void>{};
}

// The percentiles of a metric without histograms: those of its points, if a view keeps sketches of
// them. Otherwise nothing.
Task<std::vector<AnswerSeries>> QueryEngine::Impl::answer_from_sketches(
    Answer* answer, std::size_t index, std::shared_ptr<const storage::Selection> selection,
    std::shared_ptr<QueryBudget> budget) {
  SubQuestion& question = answer->question.queries[index];
  ReadChoice choice{.question = question, .rollup = {}, .source = nullptr};
  CO_TRY(SubPlan plan, make_plan(answer->question, question, limits.output_points_max));
  auto choosing = choose_view(&answer->question, &choice, &plan);
  CO_TRY_VOID(co_await std::move(choosing));
  if (choice.source == nullptr) co_return std::vector<AnswerSeries>();
  question.view = choice.view;
  question.approximate = true;
  auto reading = run_sketch_query(store, *choice.source, std::move(selection), choice.question,
                                  plan, index, *budget);
  co_return co_await std::move(reading);
}

Task<QueryEngine::Impl::Read> QueryEngine::Impl::answer_one(Answer* answer, std::size_t index,
                                                            Attempt attempt) {
  const auto& [pace, budget] = attempt;
  const SubQuestion question = answer->question.queries[index];
  CO_TRY_VOID(budget->check());
  if (sources.counters != nullptr && sources.counters->is_stale()) {
    auto refreshing = sources.counters->refresh();
    CO_TRY_VOID(co_await std::move(refreshing));
  }
  CO_TRY(std::vector<ReadChoice> choices, choose_reads(question, sources.rollups, sources.counters,
                                                       sources.tags, answer->question.begin));
  storage::SeriesQuery wanted = series_query(question, skip_unknown_values);
  wanted.regexp_bytes_max = limits.regexp_bytes_max;
  std::vector<Result<SubPlan>> plans;  // of the choices
  for (const ReadChoice& choice : choices) {
    plans.push_back(
        make_plan(answer->question, choice.question, limits.output_points_max, choice.rollup));
  }
  // Views have no annotations that are stored among points.
  wanted.notes = metadata != nullptr && !answer->question.no_annotations &&
                 metadata->annotations().options().among_points;
  if (sources.views != nullptr && choices.size() == 1 && choices.front().source == nullptr &&
      plans.front() && !wanted.notes && !question.wants_histograms()) {
    auto choosing = choose_view(&answer->question, &choices.front(), &*plans.front());
    CO_TRY_VOID(co_await std::move(choosing));
    if (pace == Pace::kQuick && !choices.front().view.empty()) {
      co_return fail(Errc::kUnavailable, "views are not read on an event loop");
    }
  }
  wanted.since = begin_of_points(choices, plans);
  const auto from =
      pace == Pace::kQuick ? storage::ReadSource::kMemory : storage::ReadSource::kDisk;
  auto selecting = select(std::move(wanted), from, budget);
  CO_TRY(const std::shared_ptr<const storage::Selection> selection, co_await std::move(selecting));
  std::vector<AnswerSeries> series;
  TimeRange asked;
  for (std::size_t i = 0; i < choices.size() && series.empty(); ++i) {
    ReadChoice& choice = choices[i];
    CO_TRY(const SubPlan plan, std::move(plans[i]));
    answer->question.queries[index].rollup_table = choice.table;
    answer->question.queries[index].view = choice.view;
    answer->question.queries[index].approximate =
        !choice.view.empty() && reads_sketches(choice.question);
    const bool raw_points =
        (choice.source == nullptr || !choice.view.empty()) && !question.wants_histograms();
    asked = raw_points ? plan.asked : TimeRange{};
    const Question& whole = answer->question;
    FetchMeter meter(
        fetch_limits.of(question.metric, whole.override_point_limit, whole.override_byte_limit));
    if (question.wants_histograms()) {
      // Rollup tables have no histograms, and points cannot replace histograms.
      if (choice.source != nullptr || sources.histograms == nullptr) continue;
      auto reading = run_histogram_query(*sources.histograms, selection, choice.question, plan,
                                         index, *budget, meter);
      CO_TRY(series, co_await std::move(reading));
      continue;
    }
    storage::Metadata* const notes =
        answer->question.no_annotations || !raw_points ? nullptr : metadata;
    if (pace != Pace::kAll && choice.source == nullptr && !meter.counts()) {
      const std::optional<SubPlan> narrow = narrow_plan(whole, plan, clock.now_ms());
      if (narrow) {
        auto trying = run_narrow_sub_query(store, notes, selection, choice.question, *narrow, plan,
                                           index, budget, meter);
        CO_TRY(std::optional<std::vector<AnswerSeries>> answered, co_await std::move(trying));
        if (answered) {
          series = std::move(*answered);
          break;
        }
      }
    }
    storage::BlockSource& source = choice.source == nullptr ? store : *choice.source;
    auto reading =
        run_sub_query(store, source, notes, selection, choice.question, plan, index, budget, meter);
    CO_TRY(series, co_await std::move(reading));
  }
  if (series.empty() && sources.views != nullptr && !question.percentiles.empty()) {
    auto reading = answer_from_sketches(answer, index, selection, budget);
    CO_TRY(series, co_await std::move(reading));
  }
  Read read{.selection = nullptr, .asked = asked, .query = index, .series = std::move(series)};
  // Only points are deleted: data from other sources stays.
  if (asked.begin < asked.end) read.selection = selection;
  co_return std::move(read);
}

QueryEngine::QueryEngine(storage::PointStore& store, const Clock& clock, QueryLimits limits,
                         bool skip_unknown_values, QueryExecutors executors,
                         prometheus::Registry& registry, storage::Metadata* metadata,
                         AuxiliarySources sides)
    : impl_(std::make_unique<Impl>(store, clock, limits, skip_unknown_values, std::move(executors),
                                   registry, metadata, std::move(sides))) {}

QueryEngine::~QueryEngine() = default;

std::vector<MemoryUser> QueryEngine::memory_users() const {
  const Scheduler& scheduler = impl_->scheduler;
  return {
      {.setting = "query.bytes_max", .used = [&scheduler] { return scheduler.running_bytes(); }},
      {.setting = "query.answers_bytes_max",
       .used = [&scheduler] { return scheduler.answers_bytes(); }},
      {.setting = "query.promql_cache_bytes_max",
       .used = [&cache = impl_->promql_cache] { return cache.bytes(); }}};
}

const QueryLimits& QueryEngine::limits() const { return impl_->limits; }

bool QueryEngine::skips_unknown_values() const { return impl_->skip_unknown_values; }

Task<std::shared_ptr<const Answer>> QueryEngine::run(Question question, RunContext context,
                                                     Afterwork then) {
  const bool repeatable = !then;
  Scheduler::Work work = [impl = impl_.get(), then = std::move(then)](Answer* answer,
                                                                      Attempt attempt) {
    return impl->answer(answer, std::move(attempt), then);
  };
  return impl_->scheduler.run(std::move(question), std::move(context), repeatable, std::move(work));
}

std::unique_ptr<ExportRun> QueryEngine::export_points(ExportQuestion question, RunContext context) {
  QueryLimits limits = impl_->limits;
  limits.output_points_max = std::numeric_limits<std::uint64_t>::max();
  return std::make_unique<ExportRun>(impl_->store, std::move(question),
                                     impl_->scheduler.begin_steps(limits, std::move(context)));
}

Task<std::shared_ptr<const PromqlAnswer>> QueryEngine::run_promql(PromqlQuestion question,
                                                                  RunContext context) {
  return query::run_promql({&impl_->store, impl_->sources.counters}, &impl_->promql_cache,
                           &impl_->scheduler, std::move(question), impl_->limits,
                           std::move(context));
}

Task<std::shared_ptr<const FoundSeries>> QueryEngine::find_series(SeriesQuestion question,
                                                                  RunContext context) {
  return run_series_search({&impl_->store, impl_->sources.counters}, std::move(question),
                           impl_->scheduler.begin_steps(impl_->limits, std::move(context)));
}

Task<FoundNames> QueryEngine::label_names(SeriesQuestion question, RunContext context) {
  return run_label_names({&impl_->store, impl_->sources.counters}, std::move(question),
                         impl_->scheduler.begin_steps(impl_->limits, std::move(context)));
}

Task<FoundNames> QueryEngine::label_values(std::string label, SeriesQuestion question,
                                           RunContext context) {
  return run_label_values({&impl_->store, impl_->sources.counters}, std::move(label),
                          std::move(question),
                          impl_->scheduler.begin_steps(impl_->limits, std::move(context)));
}

promql::ParseOptions QueryEngine::promql_options() const { return parse_options(impl_->limits); }

}  // namespace halite::query
