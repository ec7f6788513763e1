// Answers queries from a PointStore.
//
// All shards of the store are scanned in parallel; blocks flow through the operators into groups.
// The answer is in memory as output points, never as raw points and never as text: web/ streams it.
//
//   Threads  call run() at any time from any thread. The Scheduler decides where and when the query
//            runs (scheduler.h).
//   Stop     request_stop() on the context's token ends the work soon with kCancelled.
//   Delete   with Question::delete_points the engine removes the points after it has answered all
//            sub-queries. The caller checks whether that is allowed.
//   Errors   kInvalidArgument, kNotFound: the query. kTooLarge, kTimeout: a limit; the message
//            names the setting that raises it. kOverloaded: its turn did not come.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/memory_budget.h"
#include "common/threads/task.h"
#include "query/answer.h"
#include "query/engine/executors.h"
#include "query/engine/promql.h"
#include "query/limits.h"
#include "query/plan/rollup_choice.h"
#include "query/question.h"
#include "query/run_context.h"

namespace prometheus {
class Registry;
}

namespace halite::storage {
class HistogramCells;
class Metadata;
class PointStore;
class RollupTables;
class CounterStore;
class ViewStore;
}  // namespace halite::storage

namespace halite::query {

class ExportRun;  // query/engine/export_run.h
class QueryBudget;
struct ExportQuestion;  // query/export/point_export.h
struct Explanation;     // query/answer/explain.h

// Work that a caller runs on the answer as part of the query. If it fails, the query fails.
using Afterwork = std::function<Result<void>(const Answer& answer, QueryBudget& budget)>;

// What is stored besides points. All outlive the engine.
struct AuxiliarySources {
  const storage::RollupTables* rollups = nullptr;       // null: rollups are off
  const storage::HistogramCells* histograms = nullptr;  // null: histograms are off
  storage::CounterStore* counters = nullptr;            // null: there are none
  storage::ViewStore* views = nullptr;                  // null: there are none
  AggregateTag tags;
};

class QueryEngine {
 public:
  // All references outlive the engine. Without metadata, answers have no annotations.
  QueryEngine(storage::PointStore& store, const Clock& clock, QueryLimits limits,
              bool skip_unknown_values, QueryExecutors executors, prometheus::Registry& registry,
              storage::Metadata* metadata = nullptr, AuxiliarySources sides = {});
  ~QueryEngine();

  // `then`, if any, runs on the query executor within the query's limits, before the engine
  // deletes points.
  Task<std::shared_ptr<const Answer>> run(Question question, RunContext context,
                                          Afterwork then = {});

  // Estimates what the query would cost, without reading a point. Unlike run(), it does not stop at
  // query.series_max: the explanation shows that limit, too. kUnsupported: the store has no
  // estimates.
  Task<std::shared_ptr<const Explanation>> explain(Question question, RunContext context);

  // Begins to read points as they are stored, piece by piece. query.output_points_max does not
  // apply: the answer is never in memory.
  [[nodiscard]] std::unique_ptr<ExportRun> export_points(ExportQuestion question,
                                                         RunContext context);

  // Errors of the expression have the details kBadExpression (query/engine/promql.h). Others:
  // kInvalidArgument: the evaluation failed.
  Task<std::shared_ptr<const PromqlAnswer>> run_promql(PromqlQuestion question, RunContext context);
  Task<std::shared_ptr<const FoundSeries>> find_series(SeriesQuestion question, RunContext context);
  Task<FoundNames> label_names(SeriesQuestion question, RunContext context);
  Task<FoundNames> label_values(std::string label, SeriesQuestion question, RunContext context);
  [[nodiscard]] promql::ParseOptions promql_options() const;

  [[nodiscard]] std::vector<MemoryUser> memory_users() const;  // running queries, answers, cache
  [[nodiscard]] const QueryLimits& limits() const;
  [[nodiscard]] bool skips_unknown_values() const;  // query.skip_unknown_values

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::query
