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

std::span<const double> window_values(const Window& window) { return {window.values, window.size}; }

double window_sum(const Window& window, RangeParameters) {
  return kahan_sum(window_values(window)).value();
}

double window_mean(const Window& window, RangeParameters) {
  const KahanSum sum = kahan_sum(window_values(window));
  const auto count = static_cast<double>(window.size);
  if (std::isfinite(sum.sum)) return sum.sum / count + sum.compensation / count;
  KahanMean mean;
  for (const double value : window_values(window)) mean.add(value);
  return mean.value();
}

double window_count(const Window& window, RangeParameters) {
  return static_cast<double>(window.size);
}

// The place of the value that no other `precedes`. NaN only if there is nothing else.
template <class Precedes>
std::size_t extreme_place(const Window& window) {
  std::size_t found = 0;
  for (std::size_t i = 1; i < window.size; ++i) {
    const double best = window.values[found];
    if (Precedes()(window.values[i], best) || std::isnan(best)) found = i;
  }
  return found;
}

template <class Precedes>
double extreme_value(const Window& window, RangeParameters) {
  return window.values[extreme_place<Precedes>(window)];
}

// With std::less_equal and its like: the time of the last one of equal values.
template <class Precedes>
double extreme_time(const Window& window, RangeParameters) {
  return seconds_of(window.times[extreme_place<Precedes>(window)]);
}

// That of a population.
double window_variance(const Window& window, RangeParameters) {
  double number = 0;
  KahanSum mean;
  KahanSum squares;
  for (const double value : window_values(window)) {
    number += 1;
    const double delta = value - mean.value();
    mean.add(delta / number);
    squares.add(delta * (value - mean.value()));
  }
  return squares.value() / number;
}

double window_deviation(const Window& window, RangeParameters parameters) {
  return std::sqrt(window_variance(window, parameters));
}

double window_quantile(const Window& window, RangeParameters parameters) {
  std::vector<double> values(window.values, window.values + window.size);
  return quantile_of(parameters[0], values);
}

// The median of the distances to the median.
double median_deviation(const Window& window, RangeParameters) {
  std::vector<double> values(window.values, window.values + window.size);
  if (std::ranges::any_of(values, [](double value) { return std::isnan(value); })) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double median = quantile_of(0.5, values);
  for (double& value : values) value = std::abs(value - median);
  return quantile_of(0.5, values);
}

double window_last(const Window& window, RangeParameters) { return window.values[window.size - 1]; }

constexpr auto kOverTimeFunctions = std::to_array<RangeFunction>({
    {.name = "avg_over_time", .evaluate = window_mean},
    {.name = "count_over_time", .evaluate = window_count},
    {.name = "first_over_time",
     .evaluate = [](const Window& window, RangeParameters) { return window.values[0]; },
     .keeps_name = true},
    {.name = "default_rollup", .evaluate = window_last, .keeps_name = true},
    {.name = "last_over_time", .evaluate = window_last, .keeps_name = true},
    {.name = "mad_over_time", .evaluate = median_deviation},
    {.name = "max_over_time", .evaluate = extreme_value<std::greater<>>},
    {.name = "min_over_time", .evaluate = extreme_value<std::less<>>},
    {.name = "present_over_time", .evaluate = [](const Window&, RangeParameters) { return 1.0; }},
    {.name = "quantile_over_time", .evaluate = window_quantile},
    {.name = "stddev_over_time", .evaluate = window_deviation},
    {.name = "stdvar_over_time", .evaluate = window_variance},
    {.name = "sum_over_time", .evaluate = window_sum},
    {.name = "ts_of_first_over_time",
     .evaluate = [](const Window& window, RangeParameters) { return seconds_of(window.times[0]); }},
    {.name = "ts_of_last_over_time",
     .evaluate = [](const Window& w, RangeParameters) { return seconds_of(w.times[w.size - 1]); }},
    {.name = "ts_of_max_over_time", .evaluate = extreme_time<std::greater_equal<>>},
    {.name = "ts_of_min_over_time", .evaluate = extreme_time<std::less_equal<>>},
});

}  // namespace

std::span<const RangeFunction> over_time_functions() { return kOverTimeFunctions; }

}  // namespace halite::query::promql
