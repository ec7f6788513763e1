// Reads a source metric by metric, each in the order of time, in slices that fit into memory.
//
// Several threads read and prepare slices; one after the other passes them on, in order. A slice
// with too many points is read again in parts: first of its time, then of its series. If the source
// takes all time as one slice, its slices depend on nothing but its points, also in a walk that
// resumes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "app/bulk/point_source.h"

namespace halite::app {

// Everything of earlier metrics, and of this one before the time, has been passed on.
struct SourcePosition {
  std::string metric;
  TimestampMs time = 0;
};

class SliceSink {
 public:
  // What prepare() made of a slice.
  class Prepared {
   public:
    virtual ~Prepared() = default;
  };
  virtual ~SliceSink() = default;
  // Several threads at a time. `slice` is what was read; without points it may be empty.
  virtual Result<std::unique_ptr<Prepared>> prepare(const SourceSlice& slice,
                                                    std::vector<ingest::SeriesPoints> points) = 0;
  // One at a time, in order.
  virtual Result<void> take(std::unique_ptr<Prepared> prepared) = 0;
  virtual Result<void> reached(const SourcePosition& position) = 0;
};

struct WalkOptions {
  TimeRange range;
  SourcePosition from;  // an interrupted walk; empty: the beginning
  unsigned threads = 1;
  std::size_t slice_points_max = 1 << 18;  // each thread has up to three slices in memory
};

// Blocks. Returns the first error; reached() has told how far it came.
[[nodiscard]] Result<void> walk_source(PointSource& source, SliceSink& sink,
                                       const WalkOptions& options);

}  // namespace halite::app
