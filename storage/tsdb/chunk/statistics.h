// Sum, minimum and maximum of a run of points, as doubles. Rules: summary.h.
#pragma once

#include <cstddef>

#include "storage/tsdb/chunk/codecs/points.h"

namespace halite::storage::chunk {

struct Totals {
  std::size_t count = 0;
  double sum = 0;
  double min = 0;
  double max = 0;
  bool finite = true;      // if false, only the count is valid
  bool sum_exact = false;  // whole numbers whose magnitudes add up to at most 2^53
};

// points: at least one.
[[nodiscard]] Totals total(PointsView points);

}  // namespace halite::storage::chunk
