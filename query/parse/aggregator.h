// The 35 aggregators by name. operators/accumulator.h has their arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halite::query {

enum class AggregatorKind : std::uint8_t {
  kSum,
  kMin,
  kMax,
  kAvg,
  kMedian,
  kMult,  // NaN is not left out
  kDev,
  kDiff,
  kCount,
  kSquareSum,
  kFirst,  // NaN is not left out
  kLast,   // NaN is not left out
  kNone,
  kPercentile,
};

// What stands in for a member that has no point at a time between two of its points.
enum class Interpolation : std::uint8_t {
  kLinear,
  kZero,
  kMax,       // the largest value: out of the way of a minimum
  kMin,       // the smallest value
  kPrevious,  // the member's last value
};

enum class Estimation : std::uint8_t { kLegacy, kR3, kR7 };

struct Aggregator {
  std::string_view name;
  AggregatorKind kind = AggregatorKind::kSum;
  Interpolation interpolation = Interpolation::kLinear;
  double quantile = 0;  // of kPercentile: 0 to 100
  Estimation estimation = Estimation::kLegacy;
};

// Whether the aggregate follows from the totals of the numbers.
[[nodiscard]] inline bool takes_totals(AggregatorKind kind) {
  return kind == AggregatorKind::kSum || kind == AggregatorKind::kAvg ||
         kind == AggregatorKind::kMin || kind == AggregatorKind::kMax ||
         kind == AggregatorKind::kCount;
}

// nullptr when no aggregator has that name. Names are case-sensitive.
[[nodiscard]] const Aggregator* find_aggregator(std::string_view name);

// The names in the order in which /api/aggregators lists them.
[[nodiscard]] const std::vector<std::string>& aggregator_names();

}  // namespace halite::query
