#include "query/promql/eval/over_time_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "query/promql/eval/aggregate.h"
#include "query/promql/eval/kahan.h"

namespace halite::query::promql {
namespace {

using Parameters = std::span<const double>;

std::span<const double> values_of(const Window& window) { return {window.values, window.size}; }

double seconds(TimestampMs time) { return static_cast<double>(time) / 1000; }

double sum(const Window& window, Parameters) {
  KahanSum sum;
  for (const double value : values_of(window)) sum.add(value);
  return sum.value();
}

double average(const Window& window, Parameters) {
  KahanMean mean;
  for (const double value : values_of(window)) mean.add(value);
  return mean.value();
}

double count(const Window& window, Parameters) { return static_cast<double>(window.size); }

// The place of the value that no other `precedes`. NaN only if there is nothing else.
template <class Precedes>
std::size_t extreme(const Window& window) {
  std::size_t found = 0;
  for (std::size_t i = 1; i < window.size; ++i) {
    const double best = window.values[found];
    if (Precedes()(window.values[i], best) || std::isnan(best)) found = i;
  }
  return found;
}

template <class Precedes>
double extreme_value(const Window& window, Parameters) {
  return window.values[extreme<Precedes>(window)];
}

// With std::less_equal and its like: the time of the last one of equal values.
template <class Precedes>
double extreme_time(const Window& window, Parameters) {
  return seconds(window.times[extreme<Precedes>(window)]);
}

// That of a population.
double variance(const Window& window, Parameters) {
  double number = 0;
  KahanSum mean;
  KahanSum squares;
  for (const double value : values_of(window)) {
    number += 1;
    const double delta = value - mean.value();
    mean.add(delta / number);
    squares.add(delta * (value - mean.value()));
  }
  return squares.value() / number;
}

double deviation(const Window& window, Parameters parameters) {
  return std::sqrt(variance(window, parameters));
}

double quantile(const Window& window, Parameters parameters) {
  std::vector<double> values(window.values, window.values + window.size);
  return quantile_of(parameters[0], values);
}

// The median of the distances to the median.
double median_deviation(const Window& window, Parameters) {
  std::vector<double> values(window.values, window.values + window.size);
  if (std::ranges::any_of(values, [](double value) { return std::isnan(value); })) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double median = quantile_of(0.5, values);
  for (double& value : values) value = std::abs(value - median);
  return quantile_of(0.5, values);
}

constexpr auto kFunctions = std::to_array<RangeFunction>({
    {.name = "avg_over_time", .evaluate = average},
    {.name = "count_over_time", .evaluate = count},
    {.name = "first_over_time",
     .evaluate = [](const Window& window, Parameters) { return window.values[0]; },
     .keeps_name = true},
    {.name = "last_over_time",
     .evaluate = [](const Window& window, Parameters) { return window.values[window.size - 1]; },
     .keeps_name = true},
    {.name = "mad_over_time", .evaluate = median_deviation},
    {.name = "max_over_time", .evaluate = extreme_value<std::greater<>>},
    {.name = "min_over_time", .evaluate = extreme_value<std::less<>>},
    {.name = "present_over_time", .evaluate = [](const Window&, Parameters) { return 1.0; }},
    {.name = "quantile_over_time", .evaluate = quantile},
    {.name = "stddev_over_time", .evaluate = deviation},
    {.name = "stdvar_over_time", .evaluate = variance},
    {.name = "sum_over_time", .evaluate = sum},
    {.name = "ts_of_first_over_time",
     .evaluate = [](const Window& window, Parameters) { return seconds(window.times[0]); }},
    {.name = "ts_of_last_over_time",
     .evaluate = [](const Window& w, Parameters) { return seconds(w.times[w.size - 1]); }},
    {.name = "ts_of_max_over_time", .evaluate = extreme_time<std::greater_equal<>>},
    {.name = "ts_of_min_over_time", .evaluate = extreme_time<std::less_equal<>>},
});

}  // namespace

std::span<const RangeFunction> over_time_functions() { return kFunctions; }

}  // namespace halite::query::promql
