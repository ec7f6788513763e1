#include "common/sketch.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/bytes/varint.h"

namespace halite {
namespace {

using Limits = std::numeric_limits<double>;

constexpr double kGrowth = (1 + Sketch::kRelativeError) / (1 - Sketch::kRelativeError);
constexpr double kMiddle = 1 - Sketch::kRelativeError;  // of a bucket, in parts of its upper bound
const double kLogOfGrowth = std::log(kGrowth);

constexpr std::int32_t kIndexZero = 1 << 16;  // the key of bucket 0
constexpr std::int32_t kInfinite = 1 << 17;

bool is_key(std::int64_t key) {
  static const auto kFirst = kIndexZero + std::floor(std::log(Limits::min()) / kLogOfGrowth);
  static const auto kLast = kIndexZero + std::ceil(std::log(Limits::max()) / kLogOfGrowth);
  const std::int64_t positive = std::abs(key);
  const auto number = static_cast<double>(positive);
  return positive == 0 || positive == kInfinite || (number >= kFirst && number <= kLast);
}

}  // namespace

// Not for NaN.
std::int32_t Sketch::key_of(double number) {
  const double size = std::abs(number);
  if (size < Limits::min()) return 0;
  const std::int32_t key =
      std::isinf(size)
          ? kInfinite
          : kIndexZero + static_cast<std::int32_t>(std::ceil(std::log(size) / kLogOfGrowth));
  return number < 0 ? -key : key;
}

double Sketch::value_of(std::int32_t key) {
  const std::int32_t positive = std::abs(key);
  if (positive == 0) return 0;
  const double size =
      positive == kInfinite
          ? Limits::infinity()
          : std::min(kMiddle * std::exp((positive - kIndexZero) * kLogOfGrowth), Limits::max());
  return key < 0 ? -size : size;
}

void Sketch::add(double number) {
  if (std::isnan(number)) return;
  const std::int32_t key = key_of(number);
  const auto place = std::ranges::lower_bound(buckets_, key, {}, &Bucket::key);
  if (place != buckets_.end() && place->key == key) {
    ++place->count;
    return;
  }
  buckets_.insert(place, {.key = key, .count = 1});
  limit();
}

void Sketch::add(const Sketch& more) {
  if (empty()) {
    buckets_ = more.buckets_;
    return;
  }
  std::vector<Bucket> all;
  all.reserve(std::max(buckets_.size(), more.buckets_.size()));
  auto mine = buckets_.begin();
  for (const Bucket& bucket : more.buckets_) {
    while (mine != buckets_.end() && mine->key < bucket.key) all.push_back(*mine++);
    all.push_back(bucket);
    if (mine != buckets_.end() && mine->key == bucket.key) all.back().count += mine++->count;
  }
  all.insert(all.end(), mine, buckets_.end());
  buckets_ = std::move(all);
  limit();
}

// A bucket that became zeros lies nearer to zero than the farthest kBucketsMax of some of the
// numbers, and so of all numbers. Therefore it does not matter when this happens.
void Sketch::limit() {
  if (buckets_.size() <= kBucketsMax) return;
  auto first = std::ranges::lower_bound(buckets_, 0, {}, &Bucket::key);
  auto last = first;
  std::uint64_t zeros = last != buckets_.end() && last->key == 0 ? last++->count : 0;
  for (std::size_t others = buckets_.size() - static_cast<std::size_t>(last - first);
       others > kBucketsMax; --others) {
    const bool negative = first != buckets_.begin() &&
                          (last == buckets_.end() || -std::prev(first)->key <= last->key);
    zeros += negative ? (--first)->count : last++->count;
  }
  if (first == last) return;
  *first = {.key = 0, .count = zeros};
  buckets_.erase(std::next(first), last);
}

std::uint64_t Sketch::count() const {
  std::uint64_t count = 0;
  for (const Bucket& bucket : buckets_) count += bucket.count;
  return count;
}

double Sketch::percentile(double percentile) const {
  if (empty()) return Limits::quiet_NaN();
  const auto all = static_cast<double>(count());
  const double position = std::clamp(percentile / 100 * (all + 1), 1.0, all);
  const double rank = std::floor(position);
  auto at = buckets_.begin();
  auto counted = static_cast<double>(at->count);
  const auto value_at = [&](double wanted) {
    while (counted < wanted && std::next(at) != buckets_.end()) {
      counted += static_cast<double>((++at)->count);
    }
    return value_of(at->key);
  };
  const double lower = value_at(rank);
  if (position == rank) return lower;
  const double between = lower + (position - rank) * (value_at(rank + 1) - lower);
  return std::isnan(between) ? lower : between;
}

void Sketch::append_to(Bytes& to) const {
  append_varint(to, buckets_.size());
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const std::int64_t key = buckets_[i].key;
    append_varint(to, i == 0 ? zigzag(static_cast<std::uint64_t>(key))
                             : static_cast<std::uint64_t>(key - buckets_[i - 1].key - 1));
    append_varint(to, buckets_[i].count);
  }
}

std::optional<Sketch> Sketch::take(BytesView& rest) {
  constexpr std::uint64_t kCountMax = std::uint64_t{1} << 62;
  const std::optional<std::uint64_t> size = take_varint(rest);
  if (!size || *size > kBucketsMax + 1) return std::nullopt;
  Sketch sketch;
  sketch.buckets_.reserve(std::min<std::size_t>(*size, rest.size() / 2));
  std::uint64_t all = 0;
  std::int64_t key = 0;
  for (std::uint64_t i = 0; i < *size; ++i) {
    const std::optional<std::uint64_t> step = take_varint(rest);
    const std::optional<std::uint64_t> count = step ? take_varint(rest) : std::nullopt;
    if (!count || *count == 0 || *count > kCountMax - all || *step > 4 * kInfinite) {
      return std::nullopt;
    }
    all += *count;
    key = i == 0 ? static_cast<std::int64_t>(unzigzag(*step))
                 : key + static_cast<std::int64_t>(*step) + 1;
    if (!is_key(key)) return std::nullopt;
    sketch.buckets_.push_back({.key = static_cast<std::int32_t>(key), .count = *count});
  }
  const bool zeros = std::ranges::binary_search(sketch.buckets_, 0, {}, &Bucket::key);
  if (sketch.buckets_.size() - (zeros ? 1 : 0) > kBucketsMax) return std::nullopt;
  return sketch;
}

}  // namespace halite
