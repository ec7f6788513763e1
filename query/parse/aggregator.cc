#include "query/parse/aggregator.h"

#include <algorithm>
#include <array>

namespace halite::query {
namespace {

using enum AggregatorKind;

constexpr Aggregator percentile(std::string_view name, double quantile,
                                Estimation estimation = Estimation::kLegacy) {
  return {name, kPercentile, Interpolation::kLinear, quantile, estimation};
}

constexpr std::array kAggregators = {
    Aggregator{"mult", kMult, Interpolation::kLinear},
    percentile("p90", 90),
    Aggregator{"zimsum", kSum, Interpolation::kZero},
    Aggregator{"mimmax", kMax, Interpolation::kMin},
    Aggregator{"sum", kSum, Interpolation::kLinear},
    percentile("p50", 50),
    Aggregator{"none", kNone, Interpolation::kZero},
    percentile("p95", 95),
    percentile("ep99r7", 99, Estimation::kR7),
    Aggregator{"pfsum", kSum, Interpolation::kPrevious},
    percentile("p75", 75),
    percentile("p99", 99),
    percentile("ep99r3", 99, Estimation::kR3),
    percentile("ep95r7", 95, Estimation::kR7),
    Aggregator{"min", kMin, Interpolation::kLinear},
    Aggregator{"avg", kAvg, Interpolation::kLinear},
    percentile("ep75r7", 75, Estimation::kR7),
    Aggregator{"dev", kDev, Interpolation::kLinear},
    percentile("ep95r3", 95, Estimation::kR3),
    percentile("ep75r3", 75, Estimation::kR3),
    percentile("ep50r7", 50, Estimation::kR7),
    percentile("ep90r7", 90, Estimation::kR7),
    Aggregator{"mimmin", kMin, Interpolation::kMax},
    percentile("p999", 99.9),
    percentile("ep50r3", 50, Estimation::kR3),
    percentile("ep90r3", 90, Estimation::kR3),
    percentile("ep999r7", 99.9, Estimation::kR7),
    Aggregator{"last", kLast, Interpolation::kZero},
    Aggregator{"max", kMax, Interpolation::kLinear},
    Aggregator{"count", kCount, Interpolation::kZero},
    Aggregator{"diff", kDiff, Interpolation::kLinear},
    Aggregator{"median", kMedian, Interpolation::kLinear},
    Aggregator{"squareSum", kSquareSum, Interpolation::kZero},
    percentile("ep999r3", 99.9, Estimation::kR3),
    Aggregator{"first", kFirst, Interpolation::kZero},
};
static_assert(kAggregators.size() == 35);

}  // namespace

const Aggregator* find_aggregator(std::string_view name) {
  const auto found = std::ranges::find(kAggregators, name, &Aggregator::name);
  return found == kAggregators.end() ? nullptr : &*found;
}

const std::vector<std::string>& aggregator_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> all;
    for (const Aggregator& aggregator : kAggregators) all.emplace_back(aggregator.name);
    return all;
  }();
  return kNames;
}

}  // namespace halite::query
