#include "query/operators/fill.h"

#include <cstddef>
#include <limits>

namespace halite::query {

void FillOperator::fill(PointColumns& out) {
  switch (plan_->fill) {
    case FillPolicy::kZero:
      out.push(next_, 0.0);
      break;
    case FillPolicy::kScalar:
      failed_ = true;
      [[fallthrough]];
    default:
      out.push(next_, std::numeric_limits<double>::quiet_NaN());
  }
  next_ = plan_->bucket_end(next_);
}

void FillOperator::add(const PointColumns& buckets, PointColumns& out) {
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const TimestampMs time = buckets.times[i];
    while (next_ < time && next_ < plan_->filled.end) fill(out);
    if (next_ != time || next_ >= plan_->filled.end) continue;
    out.push(time, buckets.values[i], true);
    next_ = plan_->bucket_end(next_);
  }
}

void FillOperator::fill_until(TimestampMs watermark, PointColumns& out) {
  while (next_ < plan_->filled.end && plan_->bucket_end(next_) <= watermark) fill(out);
}

void FillOperator::finish(PointColumns& out) {
  while (next_ < plan_->filled.end) fill(out);
}

}  // namespace halite::query
