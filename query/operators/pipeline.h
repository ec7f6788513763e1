// One series on its way from blocks to what its group merges: downsample, fill, rate.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "query/operators/columns.h"
#include "query/operators/downsample.h"
#include "query/operators/fill.h"
#include "query/operators/rate.h"
#include "query/plan/plan.h"
#include "storage/api/point_store.h"

namespace halite::query {

// Room that the series of one shard use in turn.
struct PipelineScratch {
  PointColumns raw;
  PointColumns buckets;
  PointColumns filled;
};

// The plan outlives it. Copies go on independently.
class Pipeline {
 public:
  explicit Pipeline(const SubPlan& plan);

  // A block in time order, later than all before. Appends to `out` what is final by then.
  void add(const storage::Block& block, PipelineScratch& scratch, PointColumns& out);

  // No point before `watermark` will come.
  void advance(TimestampMs watermark, PipelineScratch& scratch, PointColumns& out);

  // No point will come.
  void finish(PipelineScratch& scratch, PointColumns& out);

  // The first time that a point still to be appended may have, after advance(watermark).
  [[nodiscard]] TimestampMs quiet_until(TimestampMs watermark) const {
    return downsampler_ ? downsampler_->quiet_until(watermark) : watermark;
  }

  // A gap that the fill policy has no value for.
  [[nodiscard]] bool failed() const { return filler_ && filler_->failed(); }

  // What it holds besides itself.
  [[nodiscard]] std::size_t bytes() const { return downsampler_ ? downsampler_->bytes() : 0; }

 private:
  void pass_on(const PointColumns& points, PointColumns& out);

  const SubPlan* plan_;
  std::optional<Downsampler> downsampler_;
  std::optional<Filler> filler_;
  std::optional<Rater> rater_;
};

}  // namespace halite::query
