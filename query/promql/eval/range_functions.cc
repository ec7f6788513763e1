#include "query/promql/eval/range_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "query/promql/eval/kahan.h"
#include "query/promql/eval/over_time_functions.h"
#include "query/promql/number_text.h"

namespace halite::query::promql {
namespace {

template <class Differs>
double count_pairs(const Window& window, Differs differs) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < window.size; ++i) {
    if (differs(window.values[i - 1], window.values[i])) ++count;
  }
  return static_cast<double>(count);
}

}  // namespace

// The length of a range. Other than seconds_of(), it rounds as Go does.
double seconds_of_range(const Window& window) {
  const std::int64_t ms = window.end - window.begin;
  return static_cast<double>(ms / 1000) + static_cast<double>(ms % 1000) * 1e6 / 1e9;
}

double evaluate_resets(const Window& window, RangeParameters) {
  return count_pairs(window, [](double before, double value) { return value < before; });
}

double evaluate_changes(const Window& window, RangeParameters) {
  return count_pairs(window, [](double before, double value) {
    return value != before && !(std::isnan(value) && std::isnan(before));
  });
}

namespace {

double last_value(const Window& window) { return window.values[window.size - 1]; }

// From the first sample to the last one. Values of counters begin again at 0 where they fall.
double sampled_difference(const Window& window, bool counter) {
  double result = last_value(window) - window.values[0];
  if (!counter) return result;
  if (window.resets) {
    for (const CounterReset& reset : *window.resets) result += reset.before;
    return result;
  }
  for (std::size_t i = 1; i < window.size; ++i) {
    if (window.values[i] < window.values[i - 1]) result += window.values[i - 1];
  }
  return result;
}

// A difference goes on to both ends of the window: for half a distance of samples at most where the
// series seems to begin or to end inside.
Extrapolation make_extrapolation(const Window& window) {
  Extrapolation made = {.before = window.times[0] - window.begin,
                        .sampled = window.times[window.size - 1] - window.times[0],
                        .behind = window.end - window.times[window.size - 1],
                        .size = window.size};
  made.sampled_s = seconds_of(made.sampled);
  const double distance = made.sampled_s / static_cast<double>(window.size - 1);
  const double far = distance * 1.1;
  made.to_begin_s = seconds_of(made.before);
  made.to_end_s = seconds_of(made.behind);
  if (made.to_begin_s >= far) made.to_begin_s = distance / 2;
  if (made.to_end_s >= far) made.to_end_s = distance / 2;
  made.range_s = seconds_of_range(window);
  made.factor = (made.sampled_s + made.to_begin_s + made.to_end_s) / made.sampled_s;
  made.factor_per_second = made.factor / made.range_s;
  return made;
}

bool is_for(const Extrapolation& made, const Window& window) {
  const TimestampMs last = window.times[window.size - 1];
  return made.size == window.size && made.before == window.times[0] - window.begin &&
         made.sampled == last - window.times[0] && made.behind == window.end - last;
}

// rate(), increase() and delta().
template <bool kCounter, bool kPerSecond>
struct Extrapolated {
  static double evaluate(const Window& window, RangeParameters) {
    if (window.size < 2) return kAbsent;
    Extrapolation own;
    return extrapolate(sampled_difference(window, kCounter), window.values[0],
                       times_of(window, own));
  }

  static void evaluate_shifted(const ShiftedWindows& windows, std::span<double> values) {
    const Window& window = windows.first;
    if (window.size < 2) {
      std::ranges::fill(values, kAbsent);
      return;
    }
    Extrapolation own;
    const Extrapolation& times = times_of(window, own);
    const double* first = window.values;
    const double* last = first + window.size - 1;
    for (double& value : values) {
      value = extrapolate(*last - *first, *first, times);
      first += windows.shift;
      last += windows.shift;
    }
  }

 private:
  static const Extrapolation& times_of(const Window& window, Extrapolation& own) {
    Extrapolation& times = window.extrapolation == nullptr ? own : *window.extrapolation;
    if (!is_for(times, window)) times = make_extrapolation(window);
    return times;
  }

  // `first`: the first value.
  static double extrapolate(double difference, double first, const Extrapolation& times) {
    double factor = kPerSecond ? times.factor_per_second : times.factor;
    // Counters are not negative: not beyond the time at which it was 0. That is far off if the
    // first value is twice the difference, for to_begin_s is at most 1.1 times sampled_s.
    if (kCounter && difference > 0 && first >= 0 && first < 2 * difference) {
      const double to_zero = times.sampled_s * (first / difference);
      if (to_zero < times.to_begin_s) {
        factor = (times.sampled_s + to_zero + times.to_end_s) / times.sampled_s;
        if (kPerSecond) factor /= times.range_s;
      }
    }
    return difference * factor;
  }
};

using Rate = Extrapolated<true, true>;
using Increase = Extrapolated<true, false>;
using Delta = Extrapolated<false, false>;

double evaluate_idelta(const Window& window, RangeParameters) {
  if (window.size < 2) return kAbsent;
  return last_value(window) - window.values[window.size - 2];
}

double evaluate_irate(const Window& window, RangeParameters) {
  if (window.size < 2) return kAbsent;
  const std::size_t i = window.size - 1;
  const double before = window.values[i - 1];
  const double grown = window.values[i] < before ? window.values[i] : window.values[i] - before;
  return grown / seconds_of(window.times[i] - window.times[i - 1]);
}

struct FittedLine {
  double slope;  // per second
  double value;  // at the origin
};

// The line with the least squares of distances. `origin` is a time.
FittedLine regression(const Window& window, TimestampMs origin) {
  const double first = window.values[0];
  bool constant = true;
  double n = 0;
  KahanSum x_sum;
  KahanSum y_sum;
  KahanSum xy_sum;
  KahanSum xx_sum;
  for (std::size_t i = 0; i < window.size; ++i) {
    const double y = window.values[i];
    if (i > 0 && y != first) constant = false;
    n += 1;
    const double x = seconds_of(window.times[i] - origin);
    x_sum.add(x);
    y_sum.add(y);
    xy_sum.add(x * y);
    xx_sum.add(x * x);
  }
  if (constant) {
    if (std::isinf(first)) {
      constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();
      return {.slope = kNoValue, .value = kNoValue};
    }
    return {.slope = 0, .value = first};
  }
  const double x = x_sum.value();
  const double y = y_sum.value();
  const double covariance = xy_sum.value() - x * y / n;
  const double variance = xx_sum.value() - x * x / n;
  const double slope = covariance / variance;
  return {.slope = slope, .value = y / n - slope * x / n};
}

double evaluate_deriv(const Window& window, RangeParameters) {
  if (window.size < 2) return kAbsent;
  return regression(window, window.times[0]).slope;
}

double evaluate_predict_linear(const Window& window, RangeParameters parameters) {
  if (window.size < 2) return kAbsent;
  const FittedLine line = regression(window, window.now);
  return line.slope * parameters[0] + line.value;
}

// Of Holt and Winters, without seasons. RangeParameters: the factors of smoothing and of the trend.
double exponential_smoothing(const Window& window, RangeParameters parameters) {
  if (window.size < 2) return kAbsent;
  const double factor = parameters[0];
  const double trend_factor = parameters[1];
  double before = 0;
  double smoothed = window.values[0];
  double trend = window.values[1] - window.values[0];
  for (std::size_t i = 1; i < window.size; ++i) {
    if (i > 1) trend = trend_factor * (smoothed - before) + (1 - trend_factor) * trend;
    const double next = factor * window.values[i] + (1 - factor) * (smoothed + trend);
    before = smoothed;
    smoothed = next;
  }
  return smoothed;
}

Result<void> check_factor(double factor, std::string_view name, std::string_view symbol) {
  if (factor > 0 && factor < 1) return {};
  if (std::isnan(factor)) return {};  // Prometheus lets it pass
  return fail(Errc::kInvalidArgument,
              fmt::format("invalid {} factor. Expected: 0 < {} < 1, got: {}", name, symbol,
                          six_decimals(factor)));
}

Result<void> check_smoothing(RangeParameters parameters) {
  TRY_VOID(check_factor(parameters[0], "smoothing", "sf"));
  return check_factor(parameters[1], "trend", "tf");
}

constexpr auto kRangeFunctions = std::to_array<RangeFunction>({
    {.name = "changes", .evaluate = evaluate_changes},
    {.name = "delta", .evaluate = Delta::evaluate, .evaluate_shifted = Delta::evaluate_shifted},
    {.name = "deriv", .evaluate = evaluate_deriv},
    {.name = "double_exponential_smoothing",
     .evaluate = exponential_smoothing,
     .check = check_smoothing},
    {.name = "idelta", .evaluate = evaluate_idelta},
    {.name = "increase",
     .evaluate = Increase::evaluate,
     .wants_counter = true,
     .evaluate_shifted = Increase::evaluate_shifted},
    {.name = "irate", .evaluate = evaluate_irate},
    {.name = "predict_linear", .evaluate = evaluate_predict_linear},
    {.name = "rate",
     .evaluate = Rate::evaluate,
     .wants_counter = true,
     .evaluate_shifted = Rate::evaluate_shifted},
    {.name = "resets", .evaluate = evaluate_resets},
});

const RangeFunction* find_by_name(std::span<const RangeFunction> functions, std::string_view name) {
  const auto found = std::ranges::find(functions, name, &RangeFunction::name);
  return found == functions.end() ? nullptr : &*found;
}

}  // namespace

const RangeFunction* find_range_function(std::string_view name) {
  const RangeFunction* const function = find_by_name(kRangeFunctions, name);
  return function != nullptr ? function : find_by_name(over_time_functions(), name);
}

}  // namespace halite::query::promql
