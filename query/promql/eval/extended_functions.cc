#include "query/promql/eval/extended_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

#include <fmt/format.h>

namespace halite::query::promql {
namespace {

// On the line between the samples i and i + 1. A counter that falls begins at 0.
double value_between(const Window& window, std::size_t i, TimestampMs time, bool counter) {
  const double after = window.values[i + 1];
  const double before = counter && after < window.values[i] ? 0 : window.values[i];
  return before + (after - before) * static_cast<double>(time - window.times[i]) /
                      static_cast<double>(window.times[i + 1] - window.times[i]);
}

// The samples at both ends of a range, or next to them, and the values there.
struct Ends {
  std::size_t first;
  std::size_t last;
  double left;
  double right;
};

// None: no sample is in the range, nor around it in a way that has a value.
std::optional<Ends> ends_of(const Window& window, bool smoothed, bool counter) {
  const std::span<const TimestampMs> times(window.times, window.size);
  const std::span<const TimestampMs> but_last = times.first(times.size() - 1);
  const auto place = [&](auto found) { return static_cast<std::size_t>(found - but_last.begin()); };
  const std::size_t inside = place(std::ranges::upper_bound(but_last, window.begin));
  Ends ends{.first = inside == 0 ? 0 : inside - 1, .last = times.size() - 1, .left = 0, .right = 0};
  if (smoothed) ends.last = place(std::ranges::lower_bound(but_last, window.end));
  if (times[ends.last] <= window.begin) return std::nullopt;
  const bool before = smoothed && times[ends.first] < window.begin;
  const bool behind = smoothed && ends.last > 0 && times[ends.last] > window.end;
  ends.left =
      before ? value_between(window, ends.first, window.begin, counter) : window.values[ends.first];
  ends.right =
      behind ? value_between(window, ends.last - 1, window.end, counter) : window.values[ends.last];
  return ends;
}

// The samples that are within the range and at none of its ends.
std::span<const double> inner_values(const Window& window, const Ends& ends) {
  const std::size_t begin = window.times[ends.first] <= window.begin ? ends.first + 1 : ends.first;
  const std::size_t end = window.times[ends.last] >= window.end ? ends.last : ends.last + 1;
  return begin < end ? std::span(window.values + begin, end - begin) : std::span<const double>();
}

// What falls of a counter take away from the difference.
double fallen(const Ends& ends, std::span<const double> inner) {
  double sum = 0;
  double before = ends.left;
  const auto add = [&](double value) {
    if (value < before) sum += before;
    before = value;
  };
  for (const double value : inner) add(value);
  add(ends.right);
  return sum;
}

double extended_difference(const Window& window, bool smoothed, bool counter) {
  const std::optional<Ends> ends = ends_of(window, smoothed, counter);
  if (!ends || (smoothed && window.times[ends->first] > window.end)) return kAbsent;
  const double difference = ends->right - ends->left;
  return counter ? difference + fallen(*ends, inner_values(window, *ends)) : difference;
}

template <bool smoothed>
double extended_delta(const Window& window, std::span<const double>) {
  return extended_difference(window, smoothed, false);
}
template <bool smoothed>
double extended_increase(const Window& window, std::span<const double>) {
  return extended_difference(window, smoothed, true);
}
template <bool smoothed>
double extended_rate(const Window& window, std::span<const double>) {
  const double difference = extended_difference(window, smoothed, true);
  return is_absent(difference) ? kAbsent : difference / seconds_of_range(window);
}

// The function of the samples of the range and the one before them.
template <double (*function)(const Window& window, std::span<const double> parameters)>
double anchored(const Window& window, std::span<const double> parameters) {
  const std::span<const TimestampMs> times(window.times, window.size);
  const auto inside =
      static_cast<std::size_t>(std::ranges::upper_bound(times, window.begin) - times.begin());
  if (inside == window.size) return kAbsent;
  const std::size_t first = inside == 0 ? 0 : inside - 1;
  Window from_anchor = window;
  from_anchor.times += first;
  from_anchor.values += first;
  from_anchor.size -= first;
  return function(from_anchor, parameters);
}

constexpr auto kAnchoredFunctions = std::to_array<RangeFunction>({
    {.name = "changes", .evaluate = anchored<evaluate_changes>},
    {.name = "delta", .evaluate = extended_delta<false>},
    {.name = "increase", .evaluate = extended_increase<false>, .wants_counter = true},
    {.name = "rate", .evaluate = extended_rate<false>, .wants_counter = true},
    {.name = "resets", .evaluate = anchored<evaluate_resets>},
});

constexpr auto kSmoothedFunctions = std::to_array<RangeFunction>({
    {.name = "delta", .evaluate = extended_delta<true>},
    {.name = "increase", .evaluate = extended_increase<true>, .wants_counter = true},
    {.name = "rate", .evaluate = extended_rate<true>, .wants_counter = true},
});

double smoothed_value(const Window& window, std::span<const double>) {
  const std::span<const TimestampMs> times(window.times, window.size);
  const auto at =
      static_cast<std::size_t>(std::ranges::lower_bound(times, window.end) - times.begin());
  if (at < window.size && times[at] == window.end) return window.values[at];
  if (at == 0) return kAbsent;
  return at == window.size ? window.values[at - 1]
                           : value_between(window, at - 1, window.end, false);
}

}  // namespace

Result<const RangeFunction*> find_extended_function(std::string_view name, Extension extension) {
  const bool is_anchored = extension == Extension::kAnchored;
  const std::span<const RangeFunction> functions =
      is_anchored ? std::span<const RangeFunction>(kAnchoredFunctions) : kSmoothedFunctions;
  const auto found = std::ranges::find(functions, name, &RangeFunction::name);
  if (found != functions.end()) return &*found;
  std::vector<std::string_view> names;
  for (const RangeFunction& function : functions) names.push_back(function.name);
  return fail(Errc::kInvalidArgument,
              fmt::format("{} modifier can only be used with: {} - not with {}",
                          extension_name(extension), fmt::join(names, ", "), name));
}

const RangeFunction& smoothed_selector() {
  static constexpr RangeFunction kSelector = {
      .name = "smoothed", .evaluate = smoothed_value, .keeps_name = true};
  return kSelector;
}

ExtendedSamples extended_samples(const Window& window, Extension extension) {
  ExtendedSamples samples;
  const std::optional<Ends> ends = ends_of(window, extension == Extension::kSmoothed, false);
  if (!ends) return samples;
  const std::span<const double> inner = inner_values(window, *ends);
  samples.times.push_back(window.begin);
  samples.values.push_back(ends->left);
  if (!inner.empty()) {
    const auto begin = static_cast<std::size_t>(inner.data() - window.values);
    samples.times.insert(samples.times.end(), window.times + begin,
                         window.times + begin + inner.size());
    samples.values.insert(samples.values.end(), inner.begin(), inner.end());
  }
  samples.times.push_back(window.end);
  samples.values.push_back(ends->right);
  return samples;
}

}  // namespace halite::query::promql
