#include "storage/tsdb/chunk/codecs/decimal_floats.h"

#include <algorithm>

namespace halite::storage::chunk {

std::optional<unsigned> decimal_exponent(PointsView points) {
  constexpr std::size_t kTried = 48;
  constexpr std::size_t kOthersMax = 4;  // gives up runs of full doubles early
  unsigned exponent = 0;
  std::size_t decimals = 0;
  std::size_t others = 0;
  const std::size_t doubles = points.float_count();
  const std::size_t step = std::max<std::size_t>(1, doubles / kTried);
  std::size_t skip = 0;  // doubles between two samples
  for (std::size_t i = 0; i < points.size(); i += doubles == points.size() ? step : 1) {
    if (doubles != points.size()) {
      if (!points.is_float(i)) continue;
      if (skip > 0) {
        --skip;
        continue;
      }
      skip = step - 1;
    }
    const double value = as_double(points.values[i]);
    unsigned tried = exponent;
    while (tried <= kDecimalExponentMax && !to_mantissa(value, kPowersOfTen[tried]).exact) ++tried;
    if (tried <= kDecimalExponentMax) {
      exponent = tried;
      ++decimals;
    } else {
      ++others;
      if (others > kOthersMax && others > decimals) return std::nullopt;
    }
  }
  if (decimals <= others) return std::nullopt;
  return exponent;
}

void undo_mantissas(std::span<std::uint64_t> numbers, unsigned exponent) {
  const double power = kPowersOfTen[exponent];
  if (exponent == 0) {
    for (std::uint64_t& number : numbers) number = double_bits(from_mantissa(number, 1));
    return;
  }
  for (std::uint64_t& number : numbers) number = double_bits(from_mantissa(number, power));
}

}  // namespace halite::storage::chunk
