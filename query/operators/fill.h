// Puts a point into every bucket that a series leaves empty.
#pragma once

#include <cstddef>

#include "common/clock.h"
#include "query/operators/columns.h"
#include "query/plan/plan.h"

namespace halite::query {

// The plan outlives it. Copies go on independently.
class FillOperator {
 public:
  explicit FillOperator(const DownsamplePlan& plan) : plan_(&plan), next_(plan.filled.begin) {}

  // Buckets in time order. A bucket that is not on the grid is left out.
  void add(const PointColumns& buckets, PointColumns& out);

  // No bucket that ends by `watermark` will come any more.
  void fill_until(TimestampMs watermark, PointColumns& out);

  void finish(PointColumns& out);

  // The `scalar` policy has no value to fill with: OpenTSDB fails when it would need one.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  void fill(PointColumns& out);

  const DownsamplePlan* plan_;
  TimestampMs next_;  // the first bucket not yet decided
  bool failed_ = false;
};

}  // namespace halite::query
