// Where a sub-query is read: among points, in a table of rollups, or in one of pre-aggregates.
//
// As OpenTSDB chooses: of the rollups whose interval divides the downsampler's, the coarsest. With
// a fallback there are more choices, each for when the one before has no series at all.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "query/plan/plan.h"
#include "query/question.h"
#include "storage/api/point_store.h"

namespace halite::storage {
class RollupTables;
}

namespace halite::query {

// The tag of pre-aggregates, where rollups are kept.
struct AggregateTag {
  std::string key = "_aggregate";
  std::string raw_value = "RAW";  // a filter for it selects the series themselves
};

struct ReadChoice {
  SubQuestion question;                          // as it is to be run here
  std::optional<PlannedRollup> rollup;           // its rows, for the plan
  std::unique_ptr<storage::BlockSource> source;  // null: the points themselves
  std::string table = "raw";                     // what an answer calls it
};

// At least one choice. kInvalidArgument in OpenTSDB's words: an aggregator without an id,
// pre-aggregates where none are kept.
[[nodiscard]] Result<std::vector<ReadChoice>> choose_reads(const SubQuestion& question,
                                                           const storage::RollupTables* tables,
                                                           const AggregateTag& tag);

}  // namespace halite::query
