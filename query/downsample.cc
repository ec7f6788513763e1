#include "query/downsample.h"

#include <algorithm>

namespace halite::query {

void BucketWindow::open(TimestampMs time) {
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
}

TimestampMs BucketWindow::quiet_until(TimestampMs watermark) const {
  if (is_open_ || (anchored_ && watermark >= begin_)) return begin_;
  return plan_->quiet_until(watermark);
}

void Downsampler::open(TimestampMs time) {
  window_.open(time);
  bucket_.reset();
  sum_ = 0;
  count_ = 0;
}

void Downsampler::close(PointColumns& out) {
  // An average of nothing is 0, as OpenTSDB has it.
  const double average = count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
  out.push(window_.begin(), plan_->average_of_sums ? average : bucket_.result());
  window_.close();
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
    if (window_.is_open() && times[i] >= window_.end()) close(out);
    if (!window_.is_open()) open(times[i]);
    std::size_t run = i;
    while (run < last && times[run] < window_.end()) ++run;
    if (plan_->average_of_sums) {
      for (std::size_t at = i; at < run; ++at) {
        sum_ += points.numbers[at];
        count_ += points.counts[at];
      }
    } else {
      bucket_.add(points.numbers.subspan(i, run - i));
    }
    i = run;
  }
}

void Downsampler::add(std::span<const storage::SpanTotals> totals, PointColumns& out) {
  for (const storage::SpanTotals& span : totals) {
    if (span.begin < plan_->points.begin || span.begin >= plan_->points.end) continue;
    if (window_.is_open() && span.begin >= window_.end()) close(out);
    if (!window_.is_open()) open(span.begin);
    bucket_.add_totals(span.count, span.sum, span.min, span.max);
  }
}

void Downsampler::close_until(TimestampMs watermark, PointColumns& out) {
  if (window_.is_open() && window_.end() <= watermark) close(out);
}

void Downsampler::finish(PointColumns& out) {
  if (window_.is_open()) close(out);
}

}  // namespace halite::query
