// Compares the points of two sources: by series and hour first, and by point where an hour differs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/bulk/point_source.h"
#include "common/result.h"

namespace halite::app {

struct PointDifferences {
  std::uint64_t points = 0;           // of the first source
  std::uint64_t missing = 0;          // in the second source
  std::uint64_t different = 0;        // with another value in the second source
  std::uint64_t extra = 0;            // only in the second source
  std::vector<std::string> examples;  // the first few, as text

  [[nodiscard]] bool equal() const { return contained() && extra == 0; }
  // The second source has all points of the first.
  [[nodiscard]] bool contained() const { return missing == 0 && different == 0; }
};

struct PointComparison {
  TimeRange range;
  unsigned threads = 1;
  // Whether an integer differs from the double of equal value. /api/query answers a series that has
  // both with doubles.
  bool kinds = true;
  // Reads the second source only between the first and the last point of the first one: elsewhere,
  // nothing counts as extra.
  bool only_where_first = false;
  std::function<void(std::uint64_t points)> progress = {};  // called now and then
  std::size_t examples_max = 10;
  std::size_t hours_max = 2 << 20;  // compared at once, of all series; or those of one day
};

// Blocks.
[[nodiscard]] Result<PointDifferences> compare_points(PointSource& first, PointSource& second,
                                                      const PointComparison& options);

}  // namespace halite::app
