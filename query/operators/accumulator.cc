#include "query/operators/accumulator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "query/operators/limits_of_double.h"

namespace halite::query {
namespace {

using enum AggregatorKind;

// Integer arithmetic that wraps, as Java's does.
std::int64_t wrap_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrap_multiply(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// As Java's cast from double to long: truncates, clamps to the range, NaN is 0.
std::int64_t truncate(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

// The order of Java's sort of doubles: -0.0 comes before 0.0. Not for NaN.
bool before(double a, double b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }

// Reorders `values`.
double median_of(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle, before);
  return *middle;
}

// The one-based position of a percentile in n sorted values, as in commons-math 3.
double position(double p, std::size_t n, Estimation estimation) {
  const auto count = static_cast<double>(n);
  switch (estimation) {
    case Estimation::kR3:
      return p <= 0.5 / count ? 0 : std::rint(count * p);  // rint: half to even
    case Estimation::kR7:
      return 1 + (count - 1) * p;
    case Estimation::kLegacy:
      break;
  }
  return p * (count + 1);
}

double percentile_of(const Aggregator& aggregator, Estimation estimation,
                     std::span<double> values) {
  const std::size_t n = values.size();
  if (n == 1) return values[0];
  const double at = position(aggregator.quantile / 100, n, estimation);
  if (at < 1) return *std::ranges::min_element(values, before);
  if (at >= static_cast<double>(n)) return *std::ranges::max_element(values, before);
  const auto below = static_cast<std::size_t>(at);
  const auto lower = values.begin() + static_cast<std::ptrdiff_t>(below) - 1;
  std::ranges::nth_element(values, lower, before);
  const double upper = *std::min_element(lower + 1, values.end(), before);
  return *lower + (at - static_cast<double>(below)) * (upper - *lower);
}

// Population standard deviation by Welford's method, in OpenTSDB's order of operations.
struct Deviation {
  double mean = 0;
  double m2 = 0;
  std::uint64_t count = 0;

  void add(double value) {
    ++count;
    if (count == 1) {
      mean = value;
      return;
    }
    const double next = mean + (value - mean) / static_cast<double>(count);
    m2 += (value - mean) * (value - next);
    mean = next;
  }
  [[nodiscard]] double result() const {
    return count == 1 ? 0 : std::sqrt(m2 / static_cast<double>(count));
  }
};

}  // namespace

void DoubleAccumulator::reset() {
  count_ = 0;
  first_ = 0;
  m2_ = 0;
  any_ = false;
  kept_.clear();
  switch (aggregator_->kind) {
    case kMin:
      value_ = kInfinity;
      break;
    case kMax:
      value_ = -kInfinity;
      break;
    case kMult:
      value_ = 1;
      break;
    default:
      value_ = 0;
  }
}

void DoubleAccumulator::add_deviation(std::span<const double> values) {
  Deviation deviation{.mean = value_, .m2 = m2_, .count = count_};
  for (const double value : values) {
    if (!std::isnan(value)) deviation.add(value);
  }
  value_ = deviation.mean;
  m2_ = deviation.m2;
  count_ = deviation.count;
}

void DoubleAccumulator::add(std::span<const double> values) {
  if (values.empty()) return;
  switch (aggregator_->kind) {
    case kSum:
    case kAvg:
      for (const double value : values) {
        const bool number = !std::isnan(value);
        value_ += number ? value : 0.0;
        count_ += number;
      }
      break;
    case kMin:
      for (const double value : values) value_ = value < value_ ? value : value_;
      break;
    case kMax:
      for (const double value : values) value_ = value > value_ ? value : value_;
      break;
    case kMult:
      for (const double value : values) value_ *= value;
      break;
    case kCount:
      for (const double value : values) count_ += !std::isnan(value);
      break;
    case kSquareSum:
      for (const double value : values) {
        const bool number = !std::isnan(value);
        value_ += number ? value * value : 0.0;
        count_ += number;
      }
      break;
    case kDev:
      add_deviation(values);
      break;
    case kDiff:
      for (const double value : values) {
        if (count_ == 0 && std::isnan(value)) continue;
        if (count_ == 0) first_ = value;
        value_ = value;
        ++count_;
      }
      break;
    case kFirst:
      if (!any_) value_ = values.front();
      break;
    case kLast:
    case kNone:
      value_ = values.back();
      break;
    case kMedian:
    case kPercentile:
      for (const double value : values) {
        if (!std::isnan(value)) kept_.push_back(value);
      }
      break;
  }
  any_ = true;
}

void DoubleAccumulator::add_totals(std::uint64_t count, double sum, double min, double max) {
  if (aggregator_->kind == kMin) {
    value_ = min < value_ ? min : value_;
  } else if (aggregator_->kind == kMax) {
    value_ = max > value_ ? max : value_;
  } else if (aggregator_->kind != kCount) {
    value_ += sum;
  }
  count_ += count;
  any_ = true;
}

double DoubleAccumulator::result() {
  switch (aggregator_->kind) {
    case kSum:
    case kSquareSum:
      return count_ == 0 ? kNan : value_;
    case kAvg:
      return count_ == 0 ? kNan : value_ / static_cast<double>(count_);
    case kMin:
      return value_ == kInfinity ? kNan : value_;
    case kMax:
      return value_ == -kInfinity ? kNan : value_;
    case kCount:
      return static_cast<double>(count_);
    case kDev:
      if (count_ == 0) return kNan;
      return Deviation{.mean = value_, .m2 = m2_, .count = count_}.result();
    case kDiff:
      if (count_ == 0) return kNan;
      return count_ == 1 ? 0 : value_ - first_;
    case kMult:
    case kFirst:
    case kLast:
    case kNone:
      return value_;
    case kMedian:
      return kept_.empty() ? kNan : median_of(kept_);
    case kPercentile:
      // OpenTSDB applies the estimation to integers only.
      return kept_.empty() ? kNan : percentile_of(*aggregator_, Estimation::kLegacy, kept_);
  }
  return kNan;
}

std::int64_t aggregate_integers(const Aggregator& aggregator, std::span<std::int64_t> values) {
  std::int64_t total = 0;
  switch (aggregator.kind) {
    case kSum:
      for (const std::int64_t value : values) total = wrap_add(total, value);
      return total;
    case kAvg:
      for (const std::int64_t value : values) total = wrap_add(total, value);
      return total / static_cast<std::int64_t>(values.size());
    case kSquareSum:
      for (const std::int64_t value : values) total = wrap_add(total, wrap_multiply(value, value));
      return total;
    case kMult:
      total = 1;
      for (const std::int64_t value : values) total = wrap_multiply(total, value);
      return total;
    case kMin:
      return *std::ranges::min_element(values);
    case kMax:
      return *std::ranges::max_element(values);
    case kCount:
      return static_cast<std::int64_t>(values.size());
    case kFirst:
      return values.front();
    case kLast:
    case kNone:
      return values.back();
    case kDiff:
      return wrap_add(values.back(),
                      static_cast<std::int64_t>(-static_cast<std::uint64_t>(values.front())));
    case kMedian: {
      const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
      std::ranges::nth_element(values, middle);
      return *middle;
    }
    case kDev: {
      Deviation deviation;
      for (const std::int64_t value : values) deviation.add(static_cast<double>(value));
      return truncate(deviation.result());
    }
    case kPercentile: {
      std::vector<double> doubles(values.begin(), values.end());
      return truncate(percentile_of(aggregator, aggregator.estimation, doubles));
    }
  }
  return total;
}

double aggregate_doubles(const Aggregator& aggregator, std::span<double> values) {
  if (aggregator.kind == kPercentile || aggregator.kind == kMedian) {
    const auto numbers = std::ranges::remove_if(values, [](double v) { return std::isnan(v); });
    const std::span<double> kept(values.begin(), numbers.begin());
    if (kept.empty()) return kNan;
    if (aggregator.kind == kPercentile) return percentile_of(aggregator, Estimation::kLegacy, kept);
    return median_of(kept);
  }
  DoubleAccumulator accumulator(aggregator);
  accumulator.add(values);
  return accumulator.result();
}

}  // namespace halite::query
