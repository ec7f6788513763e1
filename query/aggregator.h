// The 35 aggregators: names, interpolation, and their arithmetic over integers and over doubles.
//
// The same arithmetic serves groups (one value a member, in member order) and downsampling (the
// points of one bucket, in time order). Integers wrap silently and divisions truncate, as
// OpenTSDB's do; over doubles NaN is left out, unless noted.
//
//   Threads  values without shared state; each accumulator belongs to one user.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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

// Do totals of numbers say all that the aggregate needs?
[[nodiscard]] inline bool takes_totals(AggregatorKind kind) {
  return kind == AggregatorKind::kSum || kind == AggregatorKind::kAvg ||
         kind == AggregatorKind::kMin || kind == AggregatorKind::kMax ||
         kind == AggregatorKind::kCount;
}

// nullptr when there is none of that name; names are case-sensitive.
[[nodiscard]] const Aggregator* find_aggregator(std::string_view name);

// Takes doubles in order and tells their aggregate. Only medians and percentiles keep the values.
class DoubleAccumulator {
 public:
  explicit DoubleAccumulator(const Aggregator& aggregator) : aggregator_(&aggregator) { reset(); }

  void reset();
  void add(std::span<const double> values);
  // As adding the `count` numbers, none of them NaN, whose totals these are. Only where
  // takes_totals().
  void add_totals(std::uint64_t count, double sum, double min, double max);
  // NaN when nothing but NaN was added (count: 0). Medians and percentiles reorder what they keep,
  // so nothing may be added until reset().
  [[nodiscard]] double result();

  [[nodiscard]] std::size_t bytes() const { return kept_.capacity() * sizeof(double); }

 private:
  void add_deviation(std::span<const double> values);

  const Aggregator* aggregator_;
  std::uint64_t count_ = 0;  // values that were not NaN
  double first_ = 0;         // first value, or first that was not NaN (diff)
  double value_ = 0;         // sum, product, minimum, maximum, mean or last value
  double m2_ = 0;            // of the deviation
  bool any_ = false;         // something was added, NaN or not
  std::vector<double> kept_;
};

// The aggregate of at least one integer; `values` is scratch afterwards.
[[nodiscard]] std::int64_t aggregate_integers(const Aggregator& aggregator,
                                              std::span<std::int64_t> values);

// The aggregate of at least one double; `values` is scratch afterwards.
[[nodiscard]] double aggregate_doubles(const Aggregator& aggregator, std::span<double> values);

}  // namespace halite::query
