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
#include "query/fetch_limits.h"
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

struct QueryLimits {
  std::uint64_t series_max = 1'000'000;          // query.series_max
  std::uint64_t points_max = 1'000'000'000;      // query.points_max: raw points read
  std::uint64_t bytes_max = 1ull << 30;          // query.bytes_max: memory for one query's work
  std::uint64_t output_points_max = 10'000'000;  // query.output_points_max
  std::int64_t timeout_ms = 60'000;              // query.timeout_ms, from being asked
  std::size_t regexp_bytes_max = 1 << 20;        // query.regexp_bytes_max
  std::size_t running_max = 64;                  // query.running_max; small ones apart
  std::int64_t queue_ms = 10'000;                // query.queue_ms: waiting to be one of these
  // query.answers_bytes_max: memory for all answers that their readers have not taken yet
  std::uint64_t answers_bytes_max = 1ull << 30;
  std::size_t sub_queries_max = 256;        // query.sub_queries_max
  std::size_t expressions_max = 256;        // query.expressions_max: of one request
  std::size_t expression_bytes_max = 4096;  // query.expression_bytes_max
  std::size_t expression_depth_max = 64;    // query.expression_depth_max: nesting

  FetchLimitOptions fetch = {};  // what OpenTSDB limits, none by default

  // Time is read in windows that take about this much memory each; no setting. A window is never
  // shorter than an hour.
  std::uint64_t window_bytes = 96ull << 20;
};

// A tag with its ids.
struct TagIds {
  std::string key;
  std::uint64_t key_uid = 0;
  std::uint64_t value_uid = 0;  // 0 for a key alone
};

// One output series. Values are integers or doubles point by point.
struct AnswerSeries {
  std::size_t query_index = 0;  // into Question::queries (after duplicates collapsed)
  std::string metric;           // empty: no series has a point, there are only annotations
  TagTexts tags;                // common to all members
  std::vector<std::string> aggregate_tags;  // in tagk uid order
  std::vector<TagIds> tag_ids;              // of `tags`, by key uid
  std::vector<TagIds> aggregate_tag_ids;    // of `aggregate_tags`, keys alone
  std::vector<Bytes> tsuids;                // sorted; always filled by the engine
  std::vector<TimestampMs> times;           // ascending, inside the asked range
  std::vector<ValueBits> values;
  std::vector<bool> floats;      // values[i] is a double; NaN is possible
  bool has_annotations = false;  // in the hours read; those outside the asked range are left out
  std::vector<storage::Annotation> annotations;  // in the order in which they are shown
};

// Where the time of a query goes.
enum class Stage : std::uint8_t {
  kSelect,  // names and filters to series
  kRead,    // points of series, downsampled and rated on the way
  kMerge,   // series into groups
  kNotes,   // annotations
};
inline constexpr std::size_t kStages = 4;

struct QueryCost {
  std::uint64_t series = 0;
  std::uint64_t points_read = 0;
  std::uint64_t blocks_read = 0;
  std::uint64_t points_out = 0;
  storage::ReadWork work = {};  // as far as the store tells
  double wall_ms = 0;
  std::array<double, kStages> stage_ms = {};  // by Stage
};

class HeldRoom;  // query/answer_room.h

struct Answer {
  Question question;                 // as it was run: duplicate sub-queries collapsed
  std::vector<AnswerSeries> series;  // in OpenTSDB's order
  std::vector<storage::Annotation> global_annotations;  // if asked for, shown with each series
  QueryCost cost;
  std::shared_ptr<const HeldRoom> room = nullptr;  // what it takes of the memory for answers
};

class Watch;
struct Explanation;  // query/explain.h

// More to be made of an answer: its error is the question's.
using Afterwork = std::function<Result<void>(const Answer& answer, Watch& watch)>;

// The tag of pre-aggregates, where rollups are kept.
struct AggregateTag {
  std::string key = "_aggregate";
  std::string raw_value = "RAW";  // a filter for it asks for series themselves
};

// What is kept beside points. All outlive the engine.
struct SideSources {
  const storage::RollupTables* rollups = nullptr;       // null: rollups are off
  const storage::HistogramCells* histograms = nullptr;  // null: histograms are off
  AggregateTag tags;
};

// Where questions are answered.
struct QueryExecutors {
  boost::asio::any_io_executor large;
  boost::asio::any_io_executor small;  // of small questions (query/quick.h)
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

// The 35 aggregators' names, in the order /api/aggregators shows them.
[[nodiscard]] const std::vector<std::string>& aggregator_names();

}  // namespace halite::query
