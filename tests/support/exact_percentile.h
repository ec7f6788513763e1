// A percentile of numbers as OpenTSDB computes it, and the error that a sketch of them may make.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/sketch.h"

namespace halite::test {

struct ExactPercentile {
  double value = 0;
  double error = 0;  // 1 % of both numbers between which it lies
};

// Of at least one finite number.
inline ExactPercentile exact_percentile(std::vector<double> numbers, double percentile) {
  std::ranges::sort(numbers);
  const auto count = static_cast<double>(numbers.size());
  const double position = std::clamp(percentile / 100 * (count + 1), 1.0, count);
  const auto below = static_cast<std::size_t>(position);
  const double lower = numbers[below - 1];
  const double upper = numbers[std::min(below, numbers.size() - 1)];
  const double part = position - static_cast<double>(below);
  const double size = (1 - part) * std::abs(lower) + part * std::abs(upper);
  constexpr double kRounding = 1 + 1e-9;
  return {.value = lower + part * (upper - lower),
          .error = size * Sketch::kRelativeError * kRounding};
}

}  // namespace halite::test
