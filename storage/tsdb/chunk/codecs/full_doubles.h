// Encodes doubles that are not short decimals as integers in the same order. Neighbours of a random
// walk then differ in few low bits, and an integer column stores the differences.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "common/data_point.h"

namespace halite::storage::chunk {

// A bijection of all 64-bit patterns; it is its own inverse. -0 is directly below +0, NaNs are at
// both ends.
[[nodiscard]] inline std::uint64_t ordered_double(ValueBits bits) {
  const std::uint64_t below = std::uint64_t{0} - (bits >> 63);
  return bits ^ (below >> 1);
}

// For doubles that are exact singles, as from sensors and OpenTSDB's short cells: half as many
// bits, and the low ones are not all zero.
[[nodiscard]] inline std::uint64_t ordered_single(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t ordered = bits ^ ((std::uint32_t{0} - (bits >> 31)) >> 1);
  return static_cast<std::uint64_t>(
      static_cast<std::int64_t>(std::bit_cast<std::int32_t>(ordered)));
}
[[nodiscard]] inline double from_ordered_single(std::uint64_t number) {
  const auto ordered = static_cast<std::uint32_t>(number);
  return std::bit_cast<float>(ordered ^ ((std::uint32_t{0} - (ordered >> 31)) >> 1));
}

// Whether the double is exactly a single on every machine. Always false for NaN.
[[nodiscard]] inline bool is_single(ValueBits bits) {
  const double value = as_double(bits);
  if (!(std::fabs(value) <= std::numeric_limits<float>::max())) return false;
  return double_bits(static_cast<float>(value)) == bits;
}

inline void undo_singles(std::span<std::uint64_t> numbers) {
  for (std::uint64_t& number : numbers) number = double_bits(from_ordered_single(number));
}

inline void undo_ordered_doubles(std::span<std::uint64_t> numbers) {
  for (std::uint64_t& number : numbers) number = ordered_double(number);
}

}  // namespace halite::storage::chunk
