// Answers a Question from a PointStore.
//
// All shards of the store are scanned in parallel; blocks flow through rate and downsample into
// groups. The answer is in memory as output points, never as raw points and never as text: web/
// streams it.
//
//   Threads  run() may be called at any time from any thread; it works on the query executors.
//            Where a question is small and what it reads is in memory, it works on its caller's.
//   Order    query.running_max work at once, the others wait their turn on their callers'
//   executors.
//            Small questions wait for small ones alone, and have an executor of their own.
//   Stop     request_stop() on the token ends the work soon with kCancelled.
//   Delete   with Question::delete_points what was answered is removed, after all is answered;
//            whether that is allowed is the caller's business.
//   Errors   kInvalidArgument, kNotFound: the question. kTooLarge, kTimeout: a limit, named with
//            the setting that raises it. kOverloaded: its turn did not come.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/clock.h"
#include "common/task.h"
#include "query/answer.h"
#include "query/limits.h"
#include "query/plan/rollup_choice.h"
#include "query/question.h"
#include "query/tag_texts.h"
#include "storage/api/point_store.h"
#include "storage/api/read_work.h"
#include "storage/meta/objects/annotation.h"

namespace prometheus {
class Registry;
}

namespace halite::storage {
class HistogramCells;
class Metadata;
class RollupTables;
}  // namespace halite::storage

namespace halite::query {

class Watch;
struct Explanation;  // query/answer/explain.h

// More to be made of an answer: its error is the question's.
using Afterwork = std::function<Result<void>(const Answer& answer, Watch& watch)>;

// What is kept beside points. All outlive the engine.
struct SideSources {
  const storage::RollupTables* rollups = nullptr;       // null: rollups are off
  const storage::HistogramCells* histograms = nullptr;  // null: histograms are off
  AggregateTag tags;
};

// Where questions are answered.
struct QueryExecutors {
  boost::asio::any_io_executor large;
  boost::asio::any_io_executor small;  // of small questions (query/engine/quick.h)
};

class QueryEngine {
 public:
  // Everything passed by reference outlives the engine. Without metadata answers have no
  // annotations.
  QueryEngine(storage::PointStore& store, const Clock& clock, QueryLimits limits,
              bool skip_unknown_values, QueryExecutors executors, prometheus::Registry& registry,
              storage::Metadata* metadata = nullptr, SideSources sides = {});
  ~QueryEngine();

  // Deletes what it answered when the question says so, after all sub-queries were read.
  // `then`, if any, runs on the query executor within the question's limits, before what was
  // answered is deleted.
  Task<std::shared_ptr<const Answer>> run(Question question, std::stop_token stop,
                                          Afterwork then = {});

  // What it would cost, without reading a point. Unlike run() it goes on where more series are
  // selected than may be: that is among what it tells. kUnsupported: the store cannot estimate.
  Task<std::shared_ptr<const Explanation>> explain(Question question, std::stop_token stop);

  [[nodiscard]] const QueryLimits& limits() const;
  [[nodiscard]] bool skips_unknown_values() const;  // query.skip_unknown_values

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::query
