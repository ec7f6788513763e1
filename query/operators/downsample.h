// Turns the points of a series into one point for each bucket. Keeps only the open bucket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/clock.h"
#include "common/data_point.h"
#include "common/sketch.h"
#include "query/operators/accumulator.h"
#include "query/operators/columns.h"
#include "query/plan/plan.h"
#include "storage/api/point_store.h"

namespace halite::query {

// A run of points in a block of the store or in another operator's output. Owns nothing.
struct PointSpan {
  std::span<const TimestampMs> times;
  std::span<const double> numbers;  // values as doubles, whatever their type
  // For values that are sums to be averaged: the number of points in each sum. Else empty.
  std::span<const std::int64_t> counts = {};
};

// Divides time into a plan's buckets, for one series. The plan outlives it.
class BucketWindow {
 public:
  explicit BucketWindow(const DownsamplePlan& plan) : plan_(&plan) {}

  // Opens the bucket that contains `time`. Times must not decrease.
  void open(TimestampMs time);
  void close() { is_open_ = false; }

  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] TimestampMs begin() const { return begin_; }
  [[nodiscard]] TimestampMs end() const { return end_; }
  // The earliest time that a future bucket can have if no point before `watermark` comes.
  [[nodiscard]] TimestampMs final_until(TimestampMs watermark) const;

 private:
  const DownsamplePlan* plan_;
  bool is_open_ = false;
  bool anchored_ = false;  // the position of the calendar's grid is known
  TimestampMs begin_ = 0;
  TimestampMs end_ = 0;
};

// The plan outlives it. Copies are independent.
class Downsampler {
 public:
  explicit Downsampler(const DownsamplePlan& plan)
      : plan_(&plan), window_(plan), bucket_(*plan.function) {}

  // Points in time order, later than all earlier ones. Appends the buckets that they close.
  void add(PointSpan points, PointColumns& out);

  // Adds totals of spans, or for percentiles the sketches of these spans. Each span lies in one
  // bucket.
  void add(std::span<const storage::SpanTotals> totals, std::span<const Sketch> sketches,
           PointColumns& out);

  // Call this when all points before `watermark` were added. Appends the open bucket if it ends by
  // then.
  void close_until(TimestampMs watermark, PointColumns& out);

  // Appends the open bucket.
  void finish(PointColumns& out);

  // See BucketWindow.
  [[nodiscard]] TimestampMs final_until(TimestampMs watermark) const {
    return window_.final_until(watermark);
  }

  [[nodiscard]] std::size_t bytes() const { return bucket_.bytes() + sketch_.bytes(); }

 private:
  void open(TimestampMs time);
  void close(PointColumns& out);
  std::size_t add_whole(PointSpan points, PointColumns& out) const;

  const DownsamplePlan* plan_;
  BucketWindow window_;
  DoubleAccumulator bucket_;
  Sketch sketch_;           // of the bucket, if sketches were added
  double sum_ = 0;          // of sums that are to be averaged
  std::int64_t count_ = 0;  // of the points in these sums
};

}  // namespace halite::query
