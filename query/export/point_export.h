// Points as they are stored, of all series that selectors name: metric by metric, shard by shard,
// in pieces that a store reads at once.
//
//   Limits   query.series_max, query.points_max, query.timeout_ms and query.bytes_max of the
//            budget. What a metric needs is released at its end.
//   Threads  one next() at a time, on any thread. It may block the thread on disk reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/threads/task.h"
#include "query/query_budget.h"
#include "query/selection/series_search.h"
#include "query/selector/selector.h"
#include "storage/api/point_store.h"

namespace halite::query {

struct ExportQuestion {
  std::vector<Selector> selectors;  // a series that several name is exported once
  TimeRange range;
};

// Gets one block, which has points. The blocks of a series in a piece follow each other, in the
// order of time.
using BlockUse =
    std::function<Result<void>(const storage::Series& series, const storage::Block& block)>;

class PointExport {
 public:
  // The store outlives the export.
  PointExport(storage::PointStore& store, ExportQuestion question,
              std::shared_ptr<QueryBudget> budget);

  // Reads the next piece and passes its blocks to `use`. False: there are none left.
  Task<bool> next(BlockUse use);

  // Counts memory that the caller keeps of the points, or that it keeps no longer if it is
  // negative. A `use` may call it. After the last piece the budget has counted these bytes and no
  // others.
  [[nodiscard]] Result<void> keep_bytes(std::int64_t bytes);

 private:
  Task<void> begin_metric(std::string metric);
  Result<void> pass_on(std::vector<storage::Block> blocks, const BlockUse& use);
  void end_metric();
  void release_down_to(std::int64_t bytes);

  storage::PointStore& store_;
  const TimeRange range_;
  const std::shared_ptr<QueryBudget> budget_;
  SeriesSearch search_;
  bool begun_ = false;
  std::vector<std::string> metrics_;
  std::size_t metric_ = 0;             // the next one
  std::int64_t bytes_of_metrics_ = 0;  // counted for metrics_
  std::int64_t bytes_kept_ = 0;        // by the caller
  // Of the metric that is read; null: none is.
  std::shared_ptr<const storage::Selection> selection_;
  std::vector<storage::ShardSeriesCount> shards_;
  std::size_t shard_ = 0;                     // the next one
  std::unique_ptr<storage::BlockScan> scan_;  // null: none
};

}  // namespace halite::query
