// The arithmetic of the aggregators, over integers and over doubles.
//
// Groups (one value a member, in member order) and downsampling (the points of a bucket, in time
// order) use it. As in OpenTSDB, integers wrap silently and divisions truncate. Over doubles, NaN
// is left out, unless AggregatorKind says otherwise.
//
//   Threads  the functions are thread-safe, an accumulator is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "query/parse/aggregator.h"

namespace halite::query {

// Aggregates doubles in the order in which they are added. Only medians and percentiles keep the
// values.
class DoubleAccumulator {
 public:
  explicit DoubleAccumulator(const Aggregator& aggregator) : aggregator_(&aggregator) { reset(); }

  void reset();
  void add(std::span<const double> values);
  // Adds `count` numbers, none of them NaN, by their totals. Requires takes_totals().
  void add_totals(std::uint64_t count, double sum, double min, double max);
  // NaN if all added values were NaN (count: 0). Medians and percentiles reorder the values, so
  // call reset() before you add more.
  [[nodiscard]] double result();

  [[nodiscard]] std::size_t bytes() const { return kept_.capacity() * sizeof(double); }

 private:
  void add_deviation(std::span<const double> values);

  const Aggregator* aggregator_;
  std::uint64_t count_ = 0;  // values except NaN
  double first_ = 0;         // first value, or first that is not NaN (diff)
  double value_ = 0;         // sum, product, minimum, maximum, mean or last value
  double m2_ = 0;            // sum of squared deviations from the mean
  bool any_ = false;         // a value was added, NaN or not
  std::vector<double> kept_;
};

// The aggregate of at least one integer; changes `values`.
[[nodiscard]] std::int64_t aggregate_integers(const Aggregator& aggregator,
                                              std::span<std::int64_t> values);

// The aggregate of at least one double; changes `values`.
[[nodiscard]] double aggregate_doubles(const Aggregator& aggregator, std::span<double> values);

}  // namespace halite::query
