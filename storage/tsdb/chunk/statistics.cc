#include "storage/tsdb/chunk/statistics.h"

#include <algorithm>
#include <cmath>

namespace halite::storage::chunk {
namespace {

template <class Number>
Totals total_of(std::size_t count, Number number) {
  constexpr double kWholeMagic = 0x1.8p52;  // adding it rounds to a whole number
  Totals totals{.count = count, .min = number(0), .max = number(0)};
  bool whole = true;
  double differences = 0;  // NaN once a value is NaN or infinite
  for (std::size_t i = 0; i < count; ++i) {
    const double value = number(i);
    totals.sum += value;
    totals.min = value < totals.min ? value : totals.min;
    totals.max = value > totals.max ? value : totals.max;
    whole &= (value + kWholeMagic) - kWholeMagic == value;
    differences += value - value;
  }
  totals.finite = differences == 0 && std::isfinite(totals.sum);
  const double most = std::max(std::fabs(totals.min), std::fabs(totals.max));
  totals.sum_exact = whole && most * static_cast<double>(count) <= 0x1p53;
  return totals;
}

}  // namespace

Totals total(PointsView points) {
  const std::size_t floats = points.float_count();
  if (floats == 0) {
    return total_of(points.size(), [&](std::size_t i) {
      return static_cast<double>(as_integer(points.values[i]));
    });
  }
  if (floats == points.size()) {
    return total_of(points.size(), [&](std::size_t i) { return as_double(points.values[i]); });
  }
  return total_of(points.size(), [&](std::size_t i) {
    return points.is_float(i) ? as_double(points.values[i])
                              : static_cast<double>(as_integer(points.values[i]));
  });
}

}  // namespace halite::storage::chunk
