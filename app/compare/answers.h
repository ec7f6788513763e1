// Compares two answers of /api/query, OpenTSDB's and Halite's.
//
// Series match by metric, tags and aggregate tags in any order; points by timestamp; values as
// numbers in any notation. Annotations, statistics and TSUIDs are ignored.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace halite::app {

struct CompareRules {
  // Two numbers are equal if they differ by at most this fraction of the greater one, because sums
  // of doubles depend on their order. Integers must match exactly.
  double tolerance = 1e-9;
  std::size_t shown_max = 10;  // series, and points of each; 0 = all
};

// Lines that describe the differences; empty if there are none. kInvalidArgument with the side's
// name if an answer is not a list of series.
[[nodiscard]] Result<std::vector<std::string>> differences(std::string_view opentsdb,
                                                           std::string_view halite,
                                                           const CompareRules& rules);

}  // namespace halite::app
