// Encodes doubles that are short decimals as integers ("ALP"): 12.34 becomes 1234 with exponent 2.
// Exact: values that do not round-trip bit for bit are stored separately.
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

// These powers are exact doubles, so a division by one rounds once. The result is the double
// nearest to the decimal, as when its text is parsed.
inline constexpr double kPowersOfTen[kDecimalExponentMax + 1] = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// Mantissas are within ±2^51, where adding this constant puts an integer into the low bits of a
// double.
inline constexpr double kMantissaMagic = 0x1.8p52;
inline constexpr std::uint64_t kMantissaMagicBits = std::bit_cast<std::uint64_t>(kMantissaMagic);

// The double for a mantissa; an arbitrary number if it is not within ±2^51.
[[nodiscard]] inline double from_mantissa(std::uint64_t mantissa, double power) {
  const double whole = std::bit_cast<double>(mantissa + kMantissaMagicBits) - kMantissaMagic;
  return whole / power;
}

// The mantissa of `value`, and whether it restores the same bits.
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

// Sets all mantissas; false if some do not restore the same bits.
inline bool to_mantissas(std::span<const ValueBits> values, double power,
                         std::uint64_t* mantissas) {
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double scaled = as_double(values[i]) * power;
    const double raised = scaled + kMantissaMagic;
    const double back = (raised - kMantissaMagic) / power;
    mantissas[i] = std::bit_cast<std::uint64_t>(raised) - kMantissaMagicBits;
    wrong |= double_bits(back) ^ values[i];
    wrong |= std::fabs(scaled) < 0x1p51 ? 0 : 1;
  }
  return wrong == 0;
}

// The least exponent that turns all short decimals of a sample into integers; nothing if fewer than
// half of the sample are short decimals.
[[nodiscard]] std::optional<unsigned> decimal_exponent(PointsView points);

// Converts mantissas to doubles in place.
void undo_mantissas(std::span<std::uint64_t> numbers, unsigned exponent);

}  // namespace halite::storage::chunk
