// Merges runs of one series' points, which may overlap in time.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/tsdb/chunk/codecs/points.h"

namespace halite::storage::chunk {

struct FlushedRun {
  std::uint64_t flush_number = 0;  // unique within a merge
  Points points;                   // by time, without duplicate times
};

// Returns all points by time, without duplicate times. Of equal times the run with the greater
// flush number wins, with value and type. Runs that do not overlap are appended without comparing
// points.
[[nodiscard]] Points merge(std::vector<FlushedRun> runs);

}  // namespace halite::storage::chunk
