// Reads the samples of all series that a selector names and makes a row of each that has values.
//
//   Threads  one read() at a time. Shards are read in parallel on the caller's executor.
//   Limits   query.series_max, query.points_max, query.timeout_ms and query.bytes_max.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/threads/task.h"
#include "query/promql/eval/series_column.h"
#include "query/promql/eval/values.h"
#include "query/query_budget.h"
#include "query/selector/selector.h"
#include "storage/api/point_store.h"

namespace halite::query::promql {

class ColumnReader {
 public:
  // The store outlives it.
  ColumnReader(storage::PointStore& store, std::shared_ptr<QueryBudget> budget)
      : store_(store), budget_(std::move(budget)) {}

  // Rows in no particular order. Counts their memory against the budget.
  Task<std::vector<Row>> read_columns(Selector selector, ColumnPlan plan);
  // The samples themselves, without staleness markers.
  Task<std::vector<MatrixRow>> read_samples(Selector selector, TimeRange range);

  // What keeps the texts of all labels that were returned.
  [[nodiscard]] std::vector<std::shared_ptr<const storage::Selection>> take_selections() {
    return std::move(selections_);
  }

 private:
  storage::PointStore& store_;
  const std::shared_ptr<QueryBudget> budget_;
  std::vector<std::shared_ptr<const storage::Selection>> selections_;
};

// The memory of rows, which the budget counts.
[[nodiscard]] std::int64_t row_bytes(const Labels& labels, std::size_t steps);

}  // namespace halite::query::promql
