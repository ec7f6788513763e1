// Puts a point into each bucket in which a series has none.
#pragma once

#include "common/clock.h"
#include "query/operators/columns.h"
#include "query/plan/plan.h"

namespace halite::query {

// The plan outlives it. Copies are independent.
class FillOperator {
 public:
  explicit FillOperator(const DownsamplePlan& plan) : plan_(&plan), next_(plan.filled.begin) {}

  // Buckets in time order. Drops a bucket that is not on the grid.
  void add(const PointColumns& buckets, PointColumns& out);

  // Call this when all buckets that end by `watermark` were added.
  void fill_until(TimestampMs watermark, PointColumns& out);

  void finish(PointColumns& out);

  // The `scalar` policy needed a value and has none. OpenTSDB fails here, too.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  void fill(PointColumns& out);

  const DownsamplePlan* plan_;
  TimestampMs next_;  // the first bucket not yet decided
  bool failed_ = false;
};

}  // namespace halite::query
