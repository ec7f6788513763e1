// Doubles that are short decimals, as integers: 12.34 as 1234 with the exponent 2 ("ALP"). Exact:
// what does not come back bit for bit stands apart.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "common/data_point.h"
#include "storage/tsdb/chunk/codecs/points.h"

namespace halite::storage::chunk {

inline constexpr unsigned kDecimalExponentMax = 15;

// Doubles with these are exact, so a division by one rounds once: the double nearest to the
// decimal, which is what its text was read as.
inline constexpr double kPowersOfTen[kDecimalExponentMax + 1] = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// Mantissas are within ±2^51, where adding this puts an integer into a double's low bits.
inline constexpr double kMantissaMagic = 0x1.8p52;
inline constexpr std::uint64_t kMantissaMagicBits = std::bit_cast<std::uint64_t>(kMantissaMagic);

// The double that a mantissa stands for; a number of no meaning, but some number, where it is not
// within ±2^51.
[[nodiscard]] inline double from_mantissa(std::uint64_t mantissa, double power) {
  const double whole = std::bit_cast<double>(mantissa + kMantissaMagicBits) - kMantissaMagic;
  return whole / power;
}

// The mantissa of `value`, and whether it gives the same bits back.
struct Mantissa {
  std::uint64_t mantissa = 0;
  bool exact = false;
};
[[nodiscard]] inline Mantissa to_mantissa(double value, double power) {
  const double scaled = value * power;
  if (!(std::fabs(scaled) < 0x1p51)) return {};
  const std::uint64_t mantissa =
      std::bit_cast<std::uint64_t>(scaled + kMantissaMagic) - kMantissaMagicBits;
  return {mantissa, double_bits(from_mantissa(mantissa, power)) == double_bits(value)};
}

// The least exponent that all of some tens of the doubles need that are decimals; nothing where
// fewer than half are.
[[nodiscard]] std::optional<unsigned> decimal_exponent(PointsView points);

// Doubles from mantissas, in place.
void undo_mantissas(std::span<std::uint64_t> numbers, unsigned exponent);

}  // namespace halite::storage::chunk
