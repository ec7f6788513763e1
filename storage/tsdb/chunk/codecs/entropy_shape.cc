#include "storage/tsdb/chunk/codecs/entropy_shape.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "storage/tsdb/chunk/codecs/rans.h"

namespace halite::storage::chunk {
namespace {

// Counts the finest buckets that occur, in order.
std::vector<BucketCount> count_buckets(std::span<const std::uint64_t> numbers,
                                       const EntropyShape& shape,
                                       std::vector<std::uint32_t>& histogram) {
  histogram.assign(kBucketsMax, 0);
  for (const std::uint64_t number : numbers) {
    ++histogram[bucket_of(magnitude_of(number, shape), kMantissaMax)];
  }
  std::vector<BucketCount> counts;
  for (std::size_t i = 0; i < kBucketsMax; ++i) {
    if (histogram[i] != 0) counts.push_back({i, histogram[i]});
  }
  return counts;
}

// Merges them into fewer, wider buckets.
std::vector<BucketCount> coarser(const std::vector<BucketCount>& fine, unsigned mantissa) {
  std::vector<BucketCount> counts;
  for (const BucketCount& one : fine) {
    const std::size_t bucket = bucket_of(bucket_at(one.bucket, kMantissaMax).base, mantissa);
    if (counts.empty() || counts.back().bucket != bucket) counts.push_back({bucket, 0});
    counts.back().count += one.count;
  }
  return counts;
}

// Bits for all numbers, without the table.
double cost_bits(const std::vector<BucketCount>& counts, unsigned mantissa) {
  double all = 0;
  double bits = 0;
  for (const BucketCount& one : counts) {
    all += one.count;
    bits += one.count * (bucket_at(one.bucket, mantissa).bits - std::log2(one.count));
  }
  return all == 0 ? 0 : bits + all * std::log2(all);
}

double table_cost_bits(std::size_t buckets) { return 40 + 9.0 * static_cast<double>(buckets); }

// Sets the cheapest mantissa and its costs. `scale`: numbers for each counted one.
void choose_mantissa(const std::vector<BucketCount>& fine, double scale, EntropyShape& shape) {
  double best = std::numeric_limits<double>::infinity();
  double all = 0;
  for (const BucketCount& one : fine) all += one.count;
  for (unsigned mantissa = 0; mantissa <= kMantissaMax; ++mantissa) {
    const std::vector<BucketCount> counts = coarser(fine, mantissa);
    if (counts.size() > kRansSymbolsMax) break;
    const double bits = cost_bits(counts, mantissa);
    const double table = table_cost_bits(counts.size());
    if (bits * scale + table < best) {
      best = bits * scale + table;
      shape.mantissa = mantissa;
      shape.bits = bits / all;
      shape.table_bits = table;
    }
  }
}

// The centre of an unsigned shape came from a sample: replaces it by the least of all numbers if
// that is near.
void lower_centre(std::span<const std::uint64_t> numbers, EntropyShape& shape) {
  auto least = static_cast<std::int64_t>(numbers[0]);
  std::int64_t most = least;
  for (const std::uint64_t number : numbers) {
    least = std::min(least, static_cast<std::int64_t>(number));
    most = std::max(most, static_cast<std::int64_t>(number));
  }
  const auto centre = static_cast<std::int64_t>(shape.centre);
  if (least >= centre) return;
  const std::uint64_t below = shape.centre - static_cast<std::uint64_t>(least);
  const std::uint64_t above = static_cast<std::uint64_t>(most) - shape.centre;
  if (below <= above / 4) shape.centre = static_cast<std::uint64_t>(least);
}

}  // namespace

EntropyShape choose_shape(std::span<const std::uint64_t> sample, double scale,
                          EntropyScratch& scratch) {
  scratch.sorted.assign(sample.begin(), sample.end());
  const auto middle = scratch.sorted.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
  const auto by_sign = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
  };
  std::nth_element(scratch.sorted.begin(), middle, scratch.sorted.end(), by_sign);
  EntropyShape around{.zigzag = true, .centre = *middle};
  EntropyShape above{.zigzag = false,
                     .centre = *std::min_element(scratch.sorted.begin(), middle + 1, by_sign)};
  for (EntropyShape* shape : {&around, &above}) {
    choose_mantissa(count_buckets(sample, *shape, scratch.histogram), scale, *shape);
  }
  const auto total = [&](const EntropyShape& shape) {
    return shape.bits * static_cast<double>(sample.size()) * scale + shape.table_bits;
  };
  return total(above) < total(around) ? above : around;
}

std::vector<BucketCount> fit_shape(std::span<const std::uint64_t> numbers, EntropyShape& shape,
                                   EntropyScratch& scratch) {
  if (!shape.zigzag) lower_centre(numbers, shape);
  const std::vector<BucketCount> fine = count_buckets(numbers, shape, scratch.histogram);
  choose_mantissa(fine, 1, shape);
  return coarser(fine, shape.mantissa);
}

}  // namespace halite::storage::chunk
