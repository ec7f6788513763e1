// Evaluates an expression at all steps of a query. Each node results in columns, which its parent
// consumes.
//
//   Source   the rules are those of Prometheus 3.14: docs/query/promql.md
//   Threads  one evaluate() at a time; it runs on the caller's executor and may block the thread on
//            disk reads.
//   Errors   kInvalidArgument: the evaluation failed, with Prometheus' message. The budget's
//            errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/threads/task.h"
#include "query/promql/eval/annotations.h"
#include "query/promql/eval/column_reader.h"
#include "query/promql/eval/values.h"
#include "query/promql/tree.h"
#include "query/query_budget.h"
#include "storage/api/point_store.h"

namespace halite::query::promql {

struct EvaluationOptions {
  std::int64_t lookback_ms = 300'000;     // query.promql_lookback_ms
  std::int64_t default_step_ms = 60'000;  // query.promql_step_ms: of subqueries without one
  bool instant = true;                    // the query has one time only
  TimestampMs end = 0;                    // of the query: the last step or later
  const storage::CounterStore* counters = nullptr;  // refreshed; null: there are none
};

class Evaluator {
 public:
  // All references outlive it, and `texts` outlives the values.
  Evaluator(storage::PointStore& store, std::shared_ptr<QueryBudget> budget,
            EvaluationOptions options, Steps steps, TextArena& texts, Annotations& annotations);

  // Rows of a vector have the order of labels, unless the expression decides the order. The
  // expression outlives the call; its durations are resolved.
  Task<Value> evaluate(const Expr& expr);

  // What keeps the texts of labels.
  [[nodiscard]] std::vector<std::shared_ptr<const storage::Selection>> take_selections() {
    return reader_.take_selections();
  }
  // Whether the expression named a metric that has counters.
  [[nodiscard]] bool reads_counters() const { return reader_.reads_counters(); }

 private:
  Task<Value> evaluate_at(const Expr* expr, Steps steps);
  Task<Value> evaluate_node(const Expr* expr, Steps steps);
  Task<Vector> evaluate_vector(const Expr* expr, Steps steps);
  Task<std::vector<double>> evaluate_scalar(const Expr* expr, Steps steps);

  Task<Value> select(const Expr* expr, Steps steps, bool sample_times);
  Task<Value> matrix(const Expr* expr, Steps steps);
  Task<Value> binary(const Expr* expr, Steps steps);
  Task<Value> aggregation(const Expr* expr, Steps steps);
  Task<Value> negation(const Unary* unary, Steps steps);

  // evaluator_calls.cc
  Task<Value> call(const Expr* expr, Steps steps);
  Task<Value> least_or_greatest(const Call* call, Steps steps);
  Task<Value> range_call(const Call* call, Steps steps);
  Task<Value> instant_call(const Call* call, Steps steps);
  Task<Value> absent_call(const Call* call, Steps steps);
  Task<Value> histogram_call(const Expr* expr, Steps steps);
  Task<Value> label_call(const Call* call, Steps steps);
  Task<Value> sort_call(const Expr* expr, Steps steps);
  Task<Value> timestamp_call(const Call* call, Steps steps);

  // evaluator_info.cc
  Task<Value> info_call(const Call* call, Steps steps);
  [[nodiscard]] WindowPlan info_plan(const Expr& expr, Steps steps) const;

  // A function over a range vector whose scalar arguments are evaluated.
  struct RangeCall {
    const RangeFunction* function = nullptr;
    const Expr* range = nullptr;
    std::vector<std::vector<double>> scalars = {};  // a value for each step
    Position scalar_at = {};                        // of the last one
  };
  Task<RangeCall> range_arguments(const Call* call, Steps steps);
  void annotate(const RangeCall& call, std::string_view metric);
  static Result<void> drop_names(Vector& vector, const Expr& range);
  [[nodiscard]] WindowPlan plan_of(const RangeCall& call, Steps steps) const;
  // `call` outlives these. Labels keep their names.
  Task<Vector> over_range(const RangeCall& call, Steps steps);
  // over_range() with names and annotations as the function wants them.
  Task<Vector> evaluate_range(RangeCall ready, Steps steps);
  struct FoldedGroups {
    std::optional<Vector> groups;    // if they could be made while the series were read
    std::optional<RangeCall> input;  // else what is aggregated, if its arguments are evaluated
  };
  Task<FoldedGroups> fold_groups(const Aggregation* aggregation, Steps steps);
  Result<MatrixRow> samples_of(Row row, const Steps& steps);
  Result<Row> over_samples(Row row, const Steps& inner, const WindowPlan& plan);
  Task<Vector> over_subquery(const Subquery* subquery, WindowPlan plan);
  [[nodiscard]] Steps inner_steps(const Subquery& subquery, const WindowPlan& plan) const;

  [[nodiscard]] WindowPlan plan_of(const TimeModifiers& time, Steps steps) const;
  [[nodiscard]] WindowPlan plan_of(const VectorSelector& selector, Steps steps,
                                   bool sample_times) const;
  void extend(WindowPlan& plan, Extension extension) const;
  [[nodiscard]] static std::int64_t bytes_of(const Value& value);

  storage::PointStore& store_;
  const std::shared_ptr<QueryBudget> budget_;
  const EvaluationOptions options_;
  const Steps query_steps_;
  TextArena& texts_;
  Annotations& annotations_;
  ColumnReader reader_;
};

}  // namespace halite::query::promql
