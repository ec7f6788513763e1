// Chooses the buckets of the entropy coder for a run of numbers.
//
// A bucket is exact for small magnitudes, and 2^-m of the magnitude wide above. So one table of
// some tens of entries suits both the steps of a random walk and the top bits of full doubles.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/tsdb/chunk/codecs/wire.h"

namespace halite::storage::chunk {

// The conversion of numbers to magnitudes.
struct EntropyShape {
  bool zigzag = false;       // magnitude = zigzag(number - centre), otherwise number - centre
  std::uint64_t centre = 0;  // modulo 2^64, so every number is representable
  unsigned mantissa = 0;     // m: each power of two has 2^m buckets; 0 to 4
  double bits = 0;           // estimate for each number, without the table
  double table_bits = 0;     // estimate for the table
};

// How often a bucket occurs.
struct BucketCount {
  std::uint32_t bucket = 0;
  std::uint32_t count = 0;
};

// Reusable scratch memory.
struct EntropyScratch {
  std::vector<std::uint64_t> sorted;
  std::vector<std::uint32_t> histogram;
  std::vector<std::uint16_t> few_counts;
  std::vector<BucketCount> fine;
  std::vector<BucketCount> coarse;
  std::vector<std::uint16_t> buckets;  // the finest of each number of fit_shape()
  std::vector<std::uint8_t> symbols;
  std::vector<std::uint16_t> words;
  std::vector<char> low_bits;
};

inline constexpr unsigned kMantissaMax = 4;
inline constexpr std::size_t kBucketsMax = (64 - kMantissaMax + 1) << kMantissaMax;

struct Bucket {
  std::uint64_t base = 0;
  unsigned bits = 0;  // below the bucket
};

[[nodiscard]] inline Bucket bucket_at(std::size_t index, unsigned mantissa) {
  const std::size_t exact = std::size_t{2} << mantissa;
  if (index < exact) return {index, 0};
  const auto bits = static_cast<unsigned>((index >> mantissa) - 1);
  const std::uint64_t top = (index & ((std::size_t{1} << mantissa) - 1)) + (exact >> 1);
  return {top << bits, bits};
}

[[nodiscard]] inline std::size_t bucket_of(std::uint64_t magnitude, unsigned mantissa) {
  const std::uint64_t least = std::uint64_t{1} << mantissa;  // below it, no bit is left out
  const auto bits = static_cast<unsigned>(std::bit_width(magnitude | least)) - 1 - mantissa;
  return (std::size_t{bits} << mantissa) + static_cast<std::size_t>(magnitude >> bits);
}

// The bucket that contains a bucket of `mantissa` + 1.
[[nodiscard]] inline std::size_t wider_bucket(std::size_t bucket, unsigned mantissa) {
  const std::size_t exact = std::size_t{2} << mantissa;
  return bucket < exact ? bucket : (bucket + exact) / 2;
}

[[nodiscard]] inline std::uint64_t magnitude_of(std::uint64_t number, const EntropyShape& shape) {
  const std::uint64_t distance = number - shape.centre;
  return shape.zigzag ? zigzag(distance) : distance;
}

// The shape for a sample (not empty) of the numbers. scale: numbers for each one in the sample.
[[nodiscard]] EntropyShape choose_shape(std::span<const std::uint64_t> sample, double scale,
                                        EntropyScratch& scratch);

// Fits the centre, the mantissa and the costs of the shape to all numbers (not empty) of a run.
// Sets scratch.buckets, and scratch.fine to the counts of the finest buckets that occur, in order.
void fit_shape(std::span<const std::uint64_t> numbers, EntropyShape& shape,
               EntropyScratch& scratch);

// An estimate of the bits for each number (not empty) that takes a fraction of choose_shape()'s
// time. For the comparison of transforms.
[[nodiscard]] double quick_bits(std::span<const std::uint64_t> sample, EntropyScratch& scratch);

}  // namespace halite::storage::chunk
