// Turns a series' points into one point a bucket. Keeps the open bucket only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/clock.h"
#include "common/data_point.h"
#include "query/aggregator.h"
#include "query/columns.h"
#include "query/plan.h"

namespace halite::query {

// A run of points where they are: a block of the store, or another operator's output.
struct PointSpan {
  std::span<const TimestampMs> times;
  std::span<const double> numbers;  // as doubles, whatever they were
};

// The plan outlives it. Copies go on independently.
class Downsampler {
 public:
  explicit Downsampler(const DownsamplePlan& plan) : plan_(&plan), bucket_(*plan.function) {}

  // Points in time order, later than all before. Appends the buckets that they close.
  void add(PointSpan points, PointColumns& out);

  // No point before `watermark` will come: appends the open bucket if it ends by then.
  void close_until(TimestampMs watermark, PointColumns& out);

  // Appends the open bucket.
  void finish(PointColumns& out);

  // The first time that a bucket still to come may have, when no point before `watermark` comes.
  [[nodiscard]] TimestampMs quiet_until(TimestampMs watermark) const;

  [[nodiscard]] std::size_t bytes() const { return bucket_.bytes(); }

 private:
  void open(TimestampMs time);
  void close(PointColumns& out);

  const DownsamplePlan* plan_;
  DoubleAccumulator bucket_;
  bool is_open_ = false;
  bool anchored_ = false;  // the calendar's grid is found
  TimestampMs begin_ = 0;
  TimestampMs end_ = 0;
};

}  // namespace halite::query
