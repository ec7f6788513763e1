// Turns a series' points into one point a bucket. Keeps the open bucket only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/clock.h"
#include "common/data_point.h"
#include "query/operators/accumulator.h"
#include "query/operators/columns.h"
#include "query/plan/plan.h"
#include "storage/api/point_store.h"

namespace halite::query {

// A run of points where they are: a block of the store, or another operator's output.
struct PointSpan {
  std::span<const TimestampMs> times;
  std::span<const double> numbers;  // as doubles, whatever they were
  // Where the numbers are sums to be averaged: of how many points; else empty.
  std::span<const std::int64_t> counts = {};
};

// Cuts time into a plan's buckets, for one series. The plan outlives it.
class BucketWindow {
 public:
  explicit BucketWindow(const DownsamplePlan& plan) : plan_(&plan) {}

  // The bucket that holds `time`, which lies at or after all earlier ones.
  void open(TimestampMs time);
  void close() { is_open_ = false; }

  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] TimestampMs begin() const { return begin_; }
  [[nodiscard]] TimestampMs end() const { return end_; }
  // The first time that a bucket still to come may have, when no point before `watermark` comes.
  [[nodiscard]] TimestampMs final_until(TimestampMs watermark) const;

 private:
  const DownsamplePlan* plan_;
  bool is_open_ = false;
  bool anchored_ = false;  // the calendar's grid is found
  TimestampMs begin_ = 0;
  TimestampMs end_ = 0;
};

// The plan outlives it. Copies go on independently.
class Downsampler {
 public:
  explicit Downsampler(const DownsamplePlan& plan)
      : plan_(&plan), window_(plan), bucket_(*plan.function) {}

  // Points in time order, later than all before. Appends the buckets that they close.
  void add(PointSpan points, PointColumns& out);

  // The same of totals of spans, none of which lies in two buckets.
  void add(std::span<const storage::SpanTotals> totals, PointColumns& out);

  // No point before `watermark` will come: appends the open bucket if it ends by then.
  void close_until(TimestampMs watermark, PointColumns& out);

  // Appends the open bucket.
  void finish(PointColumns& out);

  // As BucketWindow's.
  [[nodiscard]] TimestampMs final_until(TimestampMs watermark) const {
    return window_.final_until(watermark);
  }

  [[nodiscard]] std::size_t bytes() const { return bucket_.bytes(); }

 private:
  void open(TimestampMs time);
  void close(PointColumns& out);
  std::size_t add_whole(PointSpan points, PointColumns& out) const;

  const DownsamplePlan* plan_;
  BucketWindow window_;
  DoubleAccumulator bucket_;
  double sum_ = 0;          // of sums to be averaged
  std::int64_t count_ = 0;  // and of their counts
};

}  // namespace halite::query
