// The operators of one series in sequence: downsample, fill, rate. Input is blocks; output is the
// points that the group merges.
#pragma once

#include <cstddef>
#include <optional>

#include "query/operators/columns.h"
#include "query/operators/downsample.h"
#include "query/operators/fill.h"
#include "query/operators/rate.h"
#include "query/plan/plan.h"
#include "storage/api/point_store.h"

namespace halite::query {

// Scratch memory that the series of a shard share.
struct PipelineScratch {
  PointColumns raw;
  PointColumns buckets;
  PointColumns filled;
};

// The plan outlives it. Copies are independent.
class Pipeline {
 public:
  explicit Pipeline(const SubPlan& plan);

  // Adds a block that is later than all before, without its staleness markers unless points are
  // answered as stored. Appends to `out` the points that are final.
  void add(const storage::Block& block, PipelineScratch& scratch, PointColumns& out);

  // Call this when all points before `watermark` were added.
  void advance(TimestampMs watermark, PipelineScratch& scratch, PointColumns& out);

  // Call this when all points were added.
  void finish(PipelineScratch& scratch, PointColumns& out);

  // After advance(watermark), no point before this time will be appended.
  [[nodiscard]] TimestampMs final_until(TimestampMs watermark) const {
    return downsampler_ ? downsampler_->final_until(watermark) : watermark;
  }

  // Whether there was a gap for which the fill policy has no value.
  [[nodiscard]] bool failed() const { return filler_ && filler_->failed(); }

  // The memory that it uses besides sizeof.
  [[nodiscard]] std::size_t bytes() const { return downsampler_ ? downsampler_->bytes() : 0; }

 private:
  void add_points(const storage::Block& block, PipelineScratch& scratch, PointColumns& out);
  void pass_on(const PointColumns& points, PointColumns& out);

  const SubPlan* plan_;
  std::optional<Downsampler> downsampler_;
  std::optional<FillOperator> filler_;
  std::optional<RateOperator> rater_;
};

}  // namespace halite::query
