// Whether two answers of /api/query say the same: OpenTSDB's and Halite's.
//
// Series are the same by metric, tags and aggregate tags, in whatever order they come; points by
// time; values as numbers, however they are written. Annotations, statistics and TSUIDs are not
// looked at.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace halite::app {

struct CompareRules {
  // Two numbers are the same when they differ by no more than this part of the greater one: sums of
  // doubles depend on their order. Whole numbers have to be equal.
  double tolerance = 1e-9;
  std::size_t shown_max = 10;  // of series, and of points of each; 0 = all
};

// Lines that tell what differs, for people; empty: nothing does. kInvalidArgument with the side's
// name when an answer is no list of series.
[[nodiscard]] Result<std::vector<std::string>> differences(std::string_view opentsdb,
                                                           std::string_view halite,
                                                           const CompareRules& rules);

}  // namespace halite::app
