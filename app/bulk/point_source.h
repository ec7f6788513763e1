// Where an export or a migration reads points from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "ingest/import/series_points.h"

namespace halite::app {

// A part of a source: the points of a metric in a time range. If `parts` is not 1, only those of
// the part-th of so many equal parts of its series, which count from 0.
struct SourceSlice {
  std::string metric;
  TimeRange range;
  std::size_t part = 0;
  std::size_t parts = 1;
};

// How long the ranges of slices should be, in ms.
struct SliceRanges {
  std::int64_t min = 0;    // shorter ones cost as much; others end at multiples of it
  std::int64_t first = 0;  // to begin with
  std::int64_t max = 0;
};

class PointSource {
 public:
  virtual ~PointSource() = default;

  // The metrics to read, in byte order.
  virtual Result<std::vector<std::string>> metrics() = 0;

  // The points of a slice, ordered by series, then by time; none without points. kTooLarge: there
  // are more than points_max. Call from any thread; blocks.
  virtual Result<std::vector<ingest::SeriesPoints>> read(const SourceSlice& slice,
                                                         std::size_t points_max) = 0;

  // Forgets which series there are, so that later reads see new ones.
  virtual void refresh() {}

  [[nodiscard]] virtual SliceRanges ranges() const = 0;
  // Whether read() takes slices of several parts.
  [[nodiscard]] virtual bool has_parts() const = 0;
};

}  // namespace halite::app
