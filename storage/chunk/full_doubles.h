// Doubles that are no short decimals, as integers in the order of the numbers: neighbours of a
// walk then differ in few of the low bits, and a column of integers takes the difference.
#pragma once

#include <cstdint>
#include <span>

#include "common/data_point.h"

namespace halite::storage::chunk {

// A bijection of all 64-bit patterns that is its own inverse; -0 just below +0, NaNs at both ends.
[[nodiscard]] inline std::uint64_t ordered_double(ValueBits bits) {
  const std::uint64_t below = std::uint64_t{0} - (bits >> 63);
  return bits ^ (below >> 1);
}

inline void undo_ordered_doubles(std::span<std::uint64_t> numbers) {
  for (std::uint64_t& number : numbers) number = ordered_double(number);
}

}  // namespace halite::storage::chunk
