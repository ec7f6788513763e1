#include "storage/tsdb/chunk/codecs/entropy_shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "storage/tsdb/chunk/codecs/rans.h"

namespace halite::storage::chunk {
namespace {

// Bits for each number by which few of them may misjudge one of two shapes.
constexpr double kQuickShapeError = 0.1;
// Samples of fewer numbers are cheap enough to try both shapes.
constexpr std::size_t kShapesMin = 128;

// log2 of most counts.
double log2_of(std::uint32_t count) {
  constexpr std::size_t kSize = 2048;
  static const std::array<double, kSize> table = [] {
    std::array<double, kSize> made{};
    for (std::size_t i = 1; i < kSize; ++i) made[i] = std::log2(static_cast<double>(i));
    return made;
  }();
  return count < kSize ? table[count] : std::log2(static_cast<double>(count));
}

// Calls `use` with each bucket's number.
template <bool kZigzag, class Use>
void for_each_bucket(std::span<const std::uint64_t> numbers, std::uint64_t centre, Use use) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint64_t distance = numbers[i] - centre;
    use(i, bucket_of(kZigzag ? zigzag(distance) : distance, kMantissaMax));
  }
}

// Counts the finest buckets that occur, in order. Calls `note` with each number's bucket.
template <class Note>
void count_buckets(std::span<const std::uint64_t> numbers, const EntropyShape& shape,
                   std::vector<std::uint32_t>& histogram, std::vector<BucketCount>& counts,
                   Note note) {
  histogram.assign(kBucketsMax, 0);
  std::size_t last = 0;
  const auto use = [&](std::size_t i, std::size_t bucket) {
    ++histogram[bucket];
    last = std::max(last, bucket);
    note(i, bucket);
  };
  if (shape.zigzag) {
    for_each_bucket<true>(numbers, shape.centre, use);
  } else {
    for_each_bucket<false>(numbers, shape.centre, use);
  }
  counts.clear();
  for (std::size_t i = 0; i <= last; ++i) {
    if (histogram[i] != 0) counts.push_back({static_cast<std::uint32_t>(i), histogram[i]});
  }
}

// Merges buckets of `mantissa` + 1 into fewer, wider ones of `mantissa`, in place.
void widen(std::vector<BucketCount>& counts, unsigned mantissa) {
  std::size_t size = 0;
  for (const BucketCount one : counts) {
    const auto bucket = static_cast<std::uint32_t>(wider_bucket(one.bucket, mantissa));
    if (size > 0 && counts[size - 1].bucket == bucket) {
      counts[size - 1].count += one.count;
    } else {
      counts[size++] = {bucket, one.count};
    }
  }
  counts.resize(size);
}

// Bits for all numbers, without the table.
double cost_bits(const std::vector<BucketCount>& counts, unsigned mantissa, std::uint32_t all) {
  double bits = 0;
  for (const BucketCount& one : counts) {
    bits += one.count * (bucket_at(one.bucket, mantissa).bits - log2_of(one.count));
  }
  return bits + all * log2_of(all);
}

double table_cost_bits(std::size_t buckets) { return 40 + 9.0 * static_cast<double>(buckets); }

// Sets the cheapest mantissa and its costs for the finest buckets. Changes these to wider ones.
// `scale`: numbers for each counted one.
void choose_mantissa(std::vector<BucketCount>& counts, double scale, EntropyShape& shape) {
  double best = std::numeric_limits<double>::infinity();
  std::uint32_t all = 0;
  for (const BucketCount& one : counts) all += one.count;
  for (unsigned mantissa = kMantissaMax;; --mantissa) {
    if (counts.size() <= kRansSymbolsMax) {
      const double bits = cost_bits(counts, mantissa, all);
      const double table = table_cost_bits(counts.size());
      if (bits * scale + table <= best) {
        best = bits * scale + table;
        shape.mantissa = mantissa;
        shape.bits = bits / all;
        shape.table_bits = table;
      }
    }
    if (mantissa == 0) return;
    widen(counts, mantissa - 1);
  }
}

std::int64_t signed_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }

bool less_signed(std::uint64_t a, std::uint64_t b) { return signed_of(a) < signed_of(b); }

struct Limits {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

Limits limits_of(std::span<const std::uint64_t> numbers) {
  Limits limits = {signed_of(numbers[0]), signed_of(numbers[0])};
  for (const std::uint64_t number : numbers) {
    limits.least = std::min(limits.least, signed_of(number));
    limits.most = std::max(limits.most, signed_of(number));
  }
  return limits;
}

std::uint64_t nth(std::span<std::uint64_t> numbers, std::size_t rank) {
  const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(numbers.begin(), at, numbers.end(), less_signed);
  return *at;
}

// The number of rank size / 2. Looks only at those between two of a few that it sorts.
std::uint64_t median(std::span<const std::uint64_t> numbers, std::vector<std::uint64_t>& memory) {
  constexpr std::size_t kTried = 33;
  constexpr std::size_t kAround = 6;
  const std::size_t rank = numbers.size() / 2;
  memory.resize(numbers.size());
  if (numbers.size() >= 8 * kTried) {
    std::array<std::uint64_t, kTried> tried;
    for (std::size_t i = 0; i < kTried; ++i) tried[i] = numbers[i * numbers.size() / kTried];
    std::ranges::sort(tried, less_signed);
    const std::uint64_t low = tried[kTried / 2 - kAround];
    const std::uint64_t high = tried[kTried / 2 + kAround];
    std::size_t below = 0;
    std::size_t kept = 0;
    for (const std::uint64_t number : numbers) {
      below += less_signed(number, low) ? 1 : 0;
      memory[kept] = number;
      kept += number - low <= high - low ? 1 : 0;
    }
    if (rank >= below && rank < below + kept) {
      return nth(std::span(memory).first(kept), rank - below);
    }
  }
  std::ranges::copy(numbers, memory.begin());
  return nth(memory, rank);
}

// The centre of an unsigned shape came from a sample: replaces it by the least of all numbers if
// that is near.
void lower_centre(std::span<const std::uint64_t> numbers, EntropyShape& shape) {
  const auto [least, most] = limits_of(numbers);
  const std::int64_t centre = signed_of(shape.centre);
  if (least >= centre) return;
  const std::uint64_t below = shape.centre - static_cast<std::uint64_t>(least);
  const std::uint64_t above = static_cast<std::uint64_t>(most) - shape.centre;
  if (below <= above / 4) shape.centre = static_cast<std::uint64_t>(least);
}

constexpr auto kNoNote = [](std::size_t, std::size_t) {};

// At most this many numbers of a sample rule out shapes and transforms.
constexpr std::size_t kThinSample = 160;

std::span<const std::uint64_t> thinned(std::span<const std::uint64_t> sample,
                                       std::vector<std::uint64_t>& memory) {
  const std::size_t step = (sample.size() + kThinSample - 1) / kThinSample;
  if (step <= 1) return sample;
  memory.clear();
  for (std::size_t i = 0; i < sample.size(); i += step) memory.push_back(sample[i]);
  return memory;
}

// Bits for each number with the finest buckets. As count_buckets() and cost_bits(), for few
// numbers: touches only the buckets that occur.
double bits_of(std::span<const std::uint64_t> few, const EntropyShape& shape,
               EntropyScratch& scratch) {
  std::vector<std::uint16_t>& counts = scratch.few_counts;  // zeros between calls
  counts.resize(kBucketsMax);
  std::array<std::uint16_t, kThinSample> buckets;
  for (std::size_t i = 0; i < few.size(); ++i) {
    buckets[i] = static_cast<std::uint16_t>(bucket_of(magnitude_of(few[i], shape), kMantissaMax));
    ++counts[buckets[i]];
  }
  const auto all = static_cast<std::uint32_t>(few.size());
  double bits = all * log2_of(all);
  for (std::size_t i = 0; i < few.size(); ++i) {
    const std::uint32_t count = std::exchange(counts[buckets[i]], 0);
    if (count != 0) bits += count * (bucket_at(buckets[i], kMantissaMax).bits - log2_of(count));
  }
  return bits / all;
}

}  // namespace

EntropyShape choose_shape(std::span<const std::uint64_t> sample, double scale,
                          EntropyScratch& scratch) {
  EntropyShape around{.zigzag = true, .centre = median(sample, scratch.sorted)};
  EntropyShape above{.zigzag = false,
                     .centre = static_cast<std::uint64_t>(limits_of(sample).least)};
  const auto thin = thinned(sample, scratch.sorted);
  bool try_around = true;
  bool try_above = true;
  if (sample.size() >= kShapesMin) {
    const double saved = bits_of(thin, around, scratch) - bits_of(thin, above, scratch);
    try_around = saved < kQuickShapeError;
    try_above = saved > -kQuickShapeError;
  }
  double best = std::numeric_limits<double>::infinity();
  EntropyShape* chosen = nullptr;
  for (EntropyShape* shape : {&around, &above}) {
    if (!(shape == &around ? try_around : try_above)) continue;
    count_buckets(sample, *shape, scratch.histogram, scratch.fine, kNoNote);
    choose_mantissa(scratch.fine, scale, *shape);
    const double bits =
        shape->bits * static_cast<double>(sample.size()) * scale + shape->table_bits;
    if (bits < best) chosen = shape;
    best = std::min(best, bits);
  }
  return *chosen;
}

void fit_shape(std::span<const std::uint64_t> numbers, EntropyShape& shape,
               EntropyScratch& scratch) {
  if (!shape.zigzag) lower_centre(numbers, shape);
  scratch.buckets.resize(std::max(scratch.buckets.size(), numbers.size()));
  std::uint16_t* const buckets = scratch.buckets.data();
  count_buckets(numbers, shape, scratch.histogram, scratch.fine,
                [buckets](std::size_t i, std::size_t bucket) {
                  buckets[i] = static_cast<std::uint16_t>(bucket);
                });
  scratch.coarse = scratch.fine;
  choose_mantissa(scratch.coarse, 1, shape);
}

double quick_bits(std::span<const std::uint64_t> sample, EntropyScratch& scratch) {
  constexpr std::size_t kTried = 15;
  constexpr double kLowBitsMany = 32;  // a centre that makes some magnitudes small saves as many
  std::array<std::uint64_t, kTried> tried;
  for (std::size_t i = 0; i < kTried; ++i) tried[i] = sample[i * sample.size() / kTried];
  const auto thin = thinned(sample, scratch.sorted);
  const double bits = bits_of(thin, {.zigzag = true, .centre = nth(tried, kTried / 2)}, scratch);
  if (bits < kLowBitsMany) return bits;
  const auto least = static_cast<std::uint64_t>(limits_of(thin).least);
  return std::min(bits, bits_of(thin, {.zigzag = false, .centre = least}, scratch));
}

}  // namespace halite::storage::chunk
