// Sum, minimum and maximum of a run of points, as doubles. summary.h has the rules.
#pragma once

#include <cstddef>

#include "storage/tsdb/chunk/codecs/points.h"

namespace halite::storage::chunk {

struct Totals {
  std::size_t count = 0;
  double sum = 0;
  double min = 0;
  double max = 0;
  bool finite = true;      // else nothing of the above but the count is of use
  bool sum_exact = false;  // whole numbers, whose magnitudes add up to 2^53 at most
};

// points: at least one.
[[nodiscard]] Totals total(PointsView points);

}  // namespace halite::storage::chunk
