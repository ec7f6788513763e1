// Several runs of one series' points, which may overlap in time, as one.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/tsdb/chunk/codecs/points.h"

namespace halite::storage::chunk {

struct FlushedRun {
  std::uint64_t flush_number = 0;  // no two runs of one merge have the same
  Points points;                   // by time, no time twice
};

// All points by time, no time twice: of equal times the run with the higher flush number has its
// point kept, value and type. Runs that follow each other are appended without comparing points.
[[nodiscard]] Points merge(std::vector<FlushedRun> runs);

}  // namespace halite::storage::chunk
