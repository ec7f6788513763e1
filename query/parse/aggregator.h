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

// The value that replaces a missing point between two points of a member.
enum class Interpolation : std::uint8_t {
  kLinear,
  kZero,
  kMax,       // the largest value, which does not affect a minimum
  kMin,       // the smallest value, which does not affect a maximum
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

// Whether the aggregate can be computed from totals.
[[nodiscard]] inline bool takes_totals(AggregatorKind kind) {
  return kind == AggregatorKind::kSum || kind == AggregatorKind::kAvg ||
         kind == AggregatorKind::kMin || kind == AggregatorKind::kMax ||
         kind == AggregatorKind::kCount;
}

// Returns nullptr if no aggregator has this name. Names are case-sensitive.
[[nodiscard]] const Aggregator* find_aggregator(std::string_view name);

// The names in the order in which /api/aggregators lists them.
[[nodiscard]] const std::vector<std::string>& aggregator_names();

}  // namespace halite::query
