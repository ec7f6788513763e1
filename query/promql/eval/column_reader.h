// Reads the samples of all series that a selector names, and makes rows or groups of them. Those of
// counters are the sums of their shortest buckets.
//
//   Threads  one read() at a time. Shards are read in parallel on the caller's executor.
//   Limits   query.series_max, query.points_max, query.timeout_ms and query.bytes_max. The budget
//            counts the memory of rows and samples; the caller releases it.
//   Time     the budget measures the stages until the reader is destroyed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/threads/task.h"
#include "query/promql/eval/series_windows.h"
#include "query/promql/eval/values.h"
#include "query/promql/tree.h"
#include "query/query_budget.h"
#include "query/selector/selector.h"
#include "storage/api/point_store.h"

namespace halite::storage {
class CounterStore;
}  // namespace halite::storage

namespace halite::query::promql {

class ColumnReader {
 public:
  // The stores outlive it; `counters` may be null.
  ColumnReader(storage::PointStore& store, const storage::CounterStore* counters,
               std::shared_ptr<QueryBudget> budget)
      : store_(store), counters_(counters), budget_(std::move(budget)) {}

  // A row of each series that has a value. Their order is not defined.
  Task<std::vector<Row>> read_columns(Selector selector, WindowPlan plan);
  // Groups instead of rows, if GroupFold::folds() the operator. With a function that removes names
  // the selector has to name one metric. None: the values have to be aggregated one by one. The
  // aggregation outlives the call.
  Task<std::optional<Vector>> read_groups(Selector selector, WindowPlan plan,
                                          const Aggregation& aggregation);
  // The samples themselves, without staleness markers.
  Task<std::vector<MatrixRow>> read_samples(Selector selector, TimeRange range);

  // What keeps the texts of all labels that were returned.
  [[nodiscard]] std::vector<std::shared_ptr<const storage::Selection>> take_selections() {
    return std::move(selections_);
  }
  // Whether a selector named a metric that has counters.
  [[nodiscard]] bool reads_counters() const { return reads_counters_; }

 private:
  storage::PointStore& store_;
  const storage::CounterStore* const counters_;
  const std::shared_ptr<QueryBudget> budget_;
  // Between two reads, and after the last one, the evaluation merges what was read.
  std::optional<QueryBudget::Timed> stage_;
  std::vector<std::shared_ptr<const storage::Selection>> selections_;
  bool reads_counters_ = false;
};

// The memory of columns and rows, which the budget counts.
[[nodiscard]] inline std::int64_t column_bytes(std::size_t steps) {
  constexpr std::size_t kStepsMax = std::size_t{1} << 56;  // beyond all limits
  return static_cast<std::int64_t>(std::min(steps, kStepsMax) * sizeof(double));
}
[[nodiscard]] std::int64_t row_bytes(const Labels& labels, std::size_t steps);

}  // namespace halite::query::promql
