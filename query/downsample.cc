#include "query/downsample.h"

#include <algorithm>

namespace halite::query {

void Downsampler::open(TimestampMs time) {
  switch (plan_->kind) {
    case BucketKind::kFixed:
      begin_ = time - time % plan_->interval_ms;
      break;
    case BucketKind::kCalendar:
      begin_ =
          anchored_ ? plan_->calendar->advance(begin_, time) : plan_->calendar->bucket_start(time);
      anchored_ = true;
      break;
    case BucketKind::kAll:
      begin_ = plan_->points.begin;
      break;
  }
  end_ = plan_->bucket_end(begin_);
  is_open_ = true;
  bucket_.reset();
}

void Downsampler::close(PointColumns& out) {
  out.push(begin_, bucket_.result());
  is_open_ = false;
}

void Downsampler::add(PointSpan points, PointColumns& out) {
  const auto times = points.times;
  const auto index_of = [times](TimestampMs time, std::size_t from) {
    return static_cast<std::size_t>(
        std::lower_bound(times.begin() + static_cast<std::ptrdiff_t>(from), times.end(), time) -
        times.begin());
  };
  std::size_t i = index_of(plan_->points.begin, 0);
  const std::size_t last = index_of(plan_->points.end, i);
  while (i < last) {
    if (is_open_ && times[i] >= end_) close(out);
    if (!is_open_) open(times[i]);
    std::size_t run = i;
    while (run < last && times[run] < end_) ++run;
    bucket_.add(points.numbers.subspan(i, run - i));
    i = run;
  }
}

void Downsampler::close_until(TimestampMs watermark, PointColumns& out) {
  if (is_open_ && end_ <= watermark) close(out);
}

TimestampMs Downsampler::quiet_until(TimestampMs watermark) const {
  if (is_open_ || (anchored_ && watermark >= begin_)) return begin_;
  return plan_->quiet_until(watermark);
}

void Downsampler::finish(PointColumns& out) {
  if (is_open_) close(out);
}

}  // namespace halite::query
