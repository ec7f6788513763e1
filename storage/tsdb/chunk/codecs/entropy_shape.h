// Which buckets an entropy coder sorts a run's numbers into.
//
// A bucket is exact for small magnitudes and as wide as 2^-m of the magnitude above, so that one
// table of some tens of entries fits steps of a walk as well as the top bits of full doubles.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/tsdb/chunk/codecs/wire.h"

namespace halite::storage::chunk {

// How numbers turn into magnitudes.
struct EntropyShape {
  bool zigzag = false;       // magnitude = zigzag(number - centre), else number - centre
  std::uint64_t centre = 0;  // modulo 2^64: no number is lost whatever it is
  unsigned mantissa = 0;     // m: buckets of a power of two: 2^m; 0 to 4
  double bits = 0;           // estimated, a number; without the table
  double table_bits = 0;     // estimated, once
};

// Memory that one run after the other may use.
struct EntropyScratch {
  std::vector<std::uint64_t> sorted;
  std::vector<std::uint32_t> histogram;
  std::vector<std::uint8_t> symbols;
  std::vector<std::uint16_t> words;
};

inline constexpr unsigned kMantissaMax = 4;
inline constexpr std::size_t kBucketsMax = (64 - kMantissaMax + 1) << kMantissaMax;

struct Bucket {
  std::uint64_t base = 0;
  unsigned bits = 0;  // below it
};

[[nodiscard]] inline Bucket bucket_at(std::size_t index, unsigned mantissa) {
  const std::size_t exact = std::size_t{2} << mantissa;
  if (index < exact) return {index, 0};
  const auto bits = static_cast<unsigned>((index >> mantissa) - 1);
  const std::uint64_t top = (index & ((std::size_t{1} << mantissa) - 1)) + (exact >> 1);
  return {top << bits, bits};
}

[[nodiscard]] inline std::size_t bucket_of(std::uint64_t magnitude, unsigned mantissa) {
  const int above = std::bit_width(magnitude) - 1 - static_cast<int>(mantissa);
  const unsigned bits = above > 0 ? static_cast<unsigned>(above) : 0;
  return (std::size_t{bits} << mantissa) + static_cast<std::size_t>(magnitude >> bits);
}

[[nodiscard]] inline std::uint64_t magnitude_of(std::uint64_t number, const EntropyShape& shape) {
  const std::uint64_t distance = number - shape.centre;
  return shape.zigzag ? zigzag(distance) : distance;
}

// How often a bucket comes.
struct BucketCount {
  std::size_t bucket = 0;
  std::uint32_t count = 0;
};

// The shape that a sample (not empty) of the numbers asks for; scale: all numbers for one of it.
[[nodiscard]] EntropyShape choose_shape(std::span<const std::uint64_t> sample, double scale,
                                        EntropyScratch& scratch);

// The shape made to fit all the numbers (not empty) of a run: its centre, its mantissa and its
// costs. The counts of its buckets, those that come at all, in order.
[[nodiscard]] std::vector<BucketCount> fit_shape(std::span<const std::uint64_t> numbers,
                                                 EntropyShape& shape, EntropyScratch& scratch);

}  // namespace halite::storage::chunk
