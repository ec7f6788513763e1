#include "query/operators/pipeline.h"

#include <algorithm>
#include <array>
#include <span>

namespace halite::query {
namespace {

void append(const PointColumns& from, std::size_t begin, PointColumns& to) {
  const auto skip = static_cast<std::ptrdiff_t>(begin);
  if (begin == from.size()) return;
  // Most series arrive as one block, followed by their last bucket.
  if (to.times.capacity() == 0) to.reserve(from.size() - begin + 1);
  to.times.insert(to.times.end(), from.times.begin() + skip, from.times.end());
  to.values.insert(to.values.end(), from.values.begin() + skip, from.values.end());
  to.floats.insert(to.floats.end(), from.floats.begin() + skip, from.floats.end());
}

void append_block(const storage::Block& block, PointColumns& to) {
  to.times.insert(to.times.end(), block.times.begin(), block.times.end());
  to.values.insert(to.values.end(), block.values.begin(), block.values.end());
  const std::size_t before = to.floats.size();
  if (block.floats.none()) {
    to.floats.resize(before + block.size(), 0);
    return;
  }
  to.floats.resize(before + block.size());
  for (std::size_t i = 0; i < block.size(); ++i) to.floats[before + i] = block.floats[i] ? 1 : 0;
}

bool may_have_markers(const storage::Block& block) {
  return block.floats.any() && std::ranges::find(block.values, kStaleMarker) != block.values.end();
}

storage::Block without_markers(const storage::Block& block) {
  storage::Block kept{.series = block.series, .times = {}, .values = {}, .floats = {}};
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (block.floats[i] && block.values[i] == kStaleMarker) continue;
    kept.floats[kept.size()] = block.floats[i];
    kept.times.push_back(block.times[i]);
    kept.values.push_back(block.values[i]);
    if (!block.counts.empty()) kept.counts.push_back(block.counts[i]);
  }
  return kept;
}

PointSpan as_numbers(const storage::Block& block, std::span<double> room) {
  const std::span<double> numbers = room.first(block.size());
  const std::size_t floats = block.floats.count();
  if (floats == block.size()) {
    std::ranges::transform(block.values, numbers.begin(), as_double);
  } else if (floats == 0) {
    std::ranges::transform(block.values, numbers.begin(),
                           [](ValueBits value) { return static_cast<double>(as_integer(value)); });
  } else {
    for (std::size_t i = 0; i < block.size(); ++i) {
      numbers[i] = block.floats[i] ? as_double(block.values[i])
                                   : static_cast<double>(as_integer(block.values[i]));
    }
  }
  return {.times = block.times, .numbers = numbers, .counts = block.counts};
}

}  // namespace

Pipeline::Pipeline(const SubPlan& plan) : plan_(&plan) {
  if (plan.downsample) {
    downsampler_.emplace(*plan.downsample);
    if (plan.downsample->fill != FillPolicy::kNone) filler_.emplace(*plan.downsample);
  }
  if (plan.rate) rater_.emplace(*plan.rate);
}

// The last steps: computes rates, then drops points before the scan range (a bucket may begin
// before it) and after the last bucket.
void Pipeline::pass_on(const PointColumns& points, PointColumns& out) {
  const std::size_t before = out.size();
  if (rater_) {
    rater_->add(points, out);
  } else {
    append(points, 0, out);
  }
  std::size_t late = out.size();
  while (late > before && out.times[late - 1] >= plan_->buckets_end) --late;
  out.truncate(late);
  if (out.size() == before || out.times[before] >= plan_->scan.begin) return;
  std::size_t early = before;
  while (early < out.size() && out.times[early] < plan_->scan.begin) ++early;
  PointColumns kept;
  append(out, early, kept);
  out.truncate(before);
  append(kept, 0, out);
}

void Pipeline::add(const storage::Block& block, PipelineScratch& scratch, PointColumns& out) {
  if (plan_->as_stored || !may_have_markers(block)) return add_points(block, scratch, out);
  const storage::Block kept = without_markers(block);
  if (kept.size() > 0) add_points(kept, scratch, out);
}

void Pipeline::add_points(const storage::Block& block, PipelineScratch& scratch,
                          PointColumns& out) {
  if (!downsampler_) {
    if (!rater_) {
      append_block(block, out);
      return;
    }
    scratch.raw.clear();
    append_block(block, scratch.raw);
    pass_on(scratch.raw, out);
    return;
  }
  scratch.buckets.clear();
  if (block.totals.empty()) {
    std::array<double, storage::kBlockPointsMax> numbers;  // uninitialized
    downsampler_->add(as_numbers(block, numbers), scratch.buckets);
  } else {
    downsampler_->add(block.totals, block.sketches, scratch.buckets);
  }
  if (scratch.buckets.empty()) return;
  if (!filler_) {
    pass_on(scratch.buckets, out);
    return;
  }
  scratch.filled.clear();
  filler_->add(scratch.buckets, scratch.filled);
  pass_on(scratch.filled, out);
}

void Pipeline::advance(TimestampMs watermark, PipelineScratch& scratch, PointColumns& out) {
  if (!downsampler_) return;
  scratch.buckets.clear();
  downsampler_->close_until(watermark, scratch.buckets);
  if (!filler_) {
    pass_on(scratch.buckets, out);
    return;
  }
  scratch.filled.clear();
  filler_->add(scratch.buckets, scratch.filled);
  filler_->fill_until(watermark, scratch.filled);
  pass_on(scratch.filled, out);
}

void Pipeline::finish(PipelineScratch& scratch, PointColumns& out) {
  if (!downsampler_) return;
  scratch.buckets.clear();
  downsampler_->finish(scratch.buckets);
  if (!filler_) {
    pass_on(scratch.buckets, out);
    return;
  }
  scratch.filled.clear();
  filler_->add(scratch.buckets, scratch.filled);
  filler_->finish(scratch.filled);
  pass_on(scratch.filled, out);
}

}  // namespace halite::query
