// An export as a query: each piece is read in its turn, on the threads for large queries. Between
// two pieces it holds neither, so that a client that reads slowly delays no other query.
//
//   Limits   those of query/export/point_export.h. query.timeout_ms also counts the time in which
//            the client reads: what is read stays pinned in the store meanwhile.
//   Threads  one next() at a time, from any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "query/engine/stepped_run.h"
#include "query/export/point_export.h"

namespace halite::query {

class ExportRun {
 public:
  // The store outlives it.
  ExportRun(storage::PointStore& store, ExportQuestion question, std::unique_ptr<SteppedRun> run);

  // Passes the next piece to `use`, on a query thread. False: there was none left.
  Task<bool> next(BlockUse use);

  // Passes all pieces to `use`. Returns room in query.answers_bytes_max for what was kept.
  Task<std::shared_ptr<const AnswerReservation>> read_all(BlockUse use);

  // See PointExport::keep_bytes().
  [[nodiscard]] Result<void> keep_bytes(std::int64_t bytes) { return points_->keep_bytes(bytes); }

  [[nodiscard]] QueryCost cost() const { return run_->budget()->cost(); }

 private:
  static Task<bool> read(std::shared_ptr<PointExport> points, BlockUse use,
                         std::shared_ptr<QueryBudget> budget);

  const std::unique_ptr<SteppedRun> run_;
  const std::shared_ptr<PointExport> points_;
};

}  // namespace halite::query
