#include "query/operators/downsample.h"

#include <algorithm>
#include <cmath>

#include "query/operators/limits_of_double.h"

namespace halite::query {
namespace {

// The aggregate of one bucket, equal to DoubleAccumulator's.
template <AggregatorKind kKind>
double aggregate(std::span<const double> numbers) {
  if constexpr (kKind == AggregatorKind::kMax) {
    double most = -kInfinity;
    for (const double number : numbers) most = number > most ? number : most;
    return most == -kInfinity ? kNan : most;
  } else if constexpr (kKind == AggregatorKind::kMin) {
    double least = kInfinity;
    for (const double number : numbers) least = number < least ? number : least;
    return least == kInfinity ? kNan : least;
  } else {
    double sum = 0;
    std::uint64_t count = 0;
    for (const double number : numbers) {
      const bool counts = !std::isnan(number);
      sum += counts ? number : 0.0;
      count += counts ? 1 : 0;
    }
    if (count == 0) return kNan;
    return kKind == AggregatorKind::kAvg ? sum / static_cast<double>(count) : sum;
  }
}

// The number of points before `end`; at least one. Mostly equals `guess`, the count of the previous
// bucket.
std::size_t points_before(std::span<const TimestampMs> times, TimestampMs end, std::size_t guess) {
  if (guess < times.size() && times[guess - 1] < end && times[guess] >= end) return guess;
  std::size_t count = 1;
  while (count < times.size() && times[count] < end) ++count;
  return count;
}

// Fast path: appends the buckets of fixed length that end among these points, without a call for
// each bucket. Returns the number of points in them.
template <AggregatorKind kKind>
std::size_t add_whole_buckets(PointSpan points, std::int64_t interval, PointColumns& out) {
  const std::span<const TimestampMs> times = points.times;
  const auto buckets = static_cast<std::size_t>((times.back() - times.front()) / interval + 2);
  const std::size_t before = out.size();
  out.resize(before + std::min(buckets, times.size()));
  TimestampMs* time_out = out.times.data() + before;
  ValueBits* value_out = out.values.data() + before;
  std::size_t begin = 0;
  std::size_t length = 1;
  TimestampMs end = times[0] - times[0] % interval;  // of the previous bucket
  while (begin < times.size()) {
    const TimestampMs time = times[begin];
    // Mostly the next bucket.
    const TimestampMs bucket = time < end + interval ? end : time - time % interval;
    end = bucket + interval;
    length = points_before(times.subspan(begin), end, length);
    if (begin + length == times.size()) break;  // more points may come
    *time_out++ = bucket;
    *value_out++ = double_bits(aggregate<kKind>(points.numbers.subspan(begin, length)));
    begin += length;
  }
  const auto after = static_cast<std::size_t>(time_out - out.times.data());
  std::fill(out.floats.begin() + static_cast<std::ptrdiff_t>(before), out.floats.end(), 1);
  out.truncate(after);
  return begin;
}

}  // namespace

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

TimestampMs BucketWindow::final_until(TimestampMs watermark) const {
  if (is_open_ || (anchored_ && watermark >= begin_)) return begin_;
  return plan_->final_until(watermark);
}

void Downsampler::open(TimestampMs time) {
  window_.open(time);
  bucket_.reset();
  sketch_ = {};
  sum_ = 0;
  count_ = 0;
}

void Downsampler::close(PointColumns& out) {
  // As in OpenTSDB, an average of no points is 0.
  const double average = count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
  out.push(window_.begin(), plan_->average_of_sums ? average
                            : sketch_.empty()      ? bucket_.result()
                                                   : sketch_.percentile(plan_->function->quantile));
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
    if (!window_.is_open()) {
      i += add_whole(
          {.times = times.subspan(i, last - i), .numbers = points.numbers.subspan(i, last - i)},
          out);
      open(times[i]);
    }
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

// Appends complete buckets, except the last one, if the fast path applies.
std::size_t Downsampler::add_whole(PointSpan points, PointColumns& out) const {
  // The ends of buckets must not overflow.
  constexpr std::int64_t kIntervalMax = std::int64_t{1} << 50;
  const std::int64_t interval = plan_->interval_ms;
  if (plan_->kind != BucketKind::kFixed || plan_->average_of_sums || interval > kIntervalMax ||
      points.times.front() < 0) {
    return 0;
  }
  switch (plan_->function->kind) {
    case AggregatorKind::kMax:
      return add_whole_buckets<AggregatorKind::kMax>(points, interval, out);
    case AggregatorKind::kMin:
      return add_whole_buckets<AggregatorKind::kMin>(points, interval, out);
    case AggregatorKind::kSum:
      return add_whole_buckets<AggregatorKind::kSum>(points, interval, out);
    case AggregatorKind::kAvg:
      return add_whole_buckets<AggregatorKind::kAvg>(points, interval, out);
    default:
      return 0;
  }
}

void Downsampler::add(std::span<const storage::SpanTotals> totals, std::span<const Sketch> sketches,
                      PointColumns& out) {
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const storage::SpanTotals& span = totals[i];
    if (span.begin < plan_->points.begin || span.begin >= plan_->points.end) continue;
    if (window_.is_open() && span.begin >= window_.end()) close(out);
    if (!window_.is_open()) open(span.begin);
    if (!sketches.empty()) {
      sketch_.add(sketches[i]);
      continue;
    }
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
