// Chooses what a sub-query reads: points, a rollup table, or a table of pre-aggregates.
//
// As in OpenTSDB, the choice is the coarsest rollup whose interval divides the downsampler's. A
// fallback adds choices; the engine takes the next one if the previous has no series.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "query/plan/plan.h"
#include "query/question.h"
#include "storage/api/point_store.h"

namespace halite::storage {
class CounterStore;
class RollupTables;
}  // namespace halite::storage

namespace halite::query {

// The tag that marks pre-aggregates in tables with rollups.
struct AggregateTag {
  std::string key = "_aggregate";
  std::string raw_value = "RAW";  // a filter for it selects single series
};

struct ReadChoice {
  SubQuestion question;                          // the sub-query to run on this choice
  std::optional<PlannedRollup> rollup;           // rows of the rollup table
  std::unique_ptr<storage::BlockSource> source;  // null: the points
  std::string table = "raw";                     // its name in an answer
  std::string view = {};                         // the view that `source` reads; empty: none
};

// `counters` may be null. A metric with counters is read from the table of the longest bucket that
// divides the downsampler's interval, if that adds, otherwise from that of the shortest. 0all-sum
// is the sum of all time if the counter has one. Returns at least one choice. kInvalidArgument,
// with OpenTSDB's message: an aggregator without an id, or pre-aggregates where none are kept.
[[nodiscard]] Result<std::vector<ReadChoice>> choose_reads(const SubQuestion& question,
                                                           const storage::RollupTables* tables,
                                                           const storage::CounterStore* counters,
                                                           const AggregateTag& tag,
                                                           TimestampMs begin);

}  // namespace halite::query
