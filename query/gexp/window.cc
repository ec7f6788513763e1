// Functions with a duration: movingAverage and shift.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "query/gexp/functions.h"
#include "query/parse/refuse.h"
#include "query/parse/text.h"
#include "query/parse/time.h"

namespace halite::query {
namespace {

constexpr std::string_view kBadWindow =
    "Moving average window must be an integer greater than zero";

struct Window {
  std::int64_t size = 0;  // points, or milliseconds
  bool time = false;
};

struct Unit {
  std::string_view name;
  std::int64_t ms;
};

// OpenTSDB's function names and the letters of its durations (n is a month of 30 days).
constexpr std::array<Unit, 25> kUnits = {{
    {"ms", 1},
    {"s", 1'000},
    {"sec", 1'000},
    {"second", 1'000},
    {"seconds", 1'000},
    {"m", 60'000},
    {"min", 60'000},
    {"minute", 60'000},
    {"minutes", 60'000},
    {"h", 3'600'000},
    {"hr", 3'600'000},
    {"hour", 3'600'000},
    {"hours", 3'600'000},
    {"d", 86'400'000},
    {"day", 86'400'000},
    {"days", 86'400'000},
    {"w", 7 * 86'400'000LL},
    {"week", 7 * 86'400'000LL},
    {"weeks", 7 * 86'400'000LL},
    {"n", 30 * 86'400'000LL},
    {"month", 30 * 86'400'000LL},
    {"months", 30 * 86'400'000LL},
    {"y", 365 * 86'400'000LL},
    {"year", 365 * 86'400'000LL},
    {"years", 365 * 86'400'000LL},
}};

std::optional<std::int64_t> unit_ms(std::string_view unit) {
  const auto* const found = std::ranges::find(kUnits, to_lower(unit), &Unit::name);
  if (found == kUnits.end()) return std::nullopt;
  return found->ms;
}

Result<Window> parse_window(std::string_view text) {
  Window window;
  window.time = text.size() > 2 && text.starts_with('\'') && text.ends_with('\'');
  const std::string_view inside = window.time ? text.substr(1, text.size() - 2) : text;
  std::int32_t size = 0;
  const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), size);
  const std::string_view unit(end, inside.data() + inside.size());
  if (error != std::errc{} || size <= 0 || unit.empty() != !window.time) {
    return refuse(std::string(kBadWindow));
  }
  window.size = size;
  if (!window.time) return window;
  const auto length = unit_ms(unit);
  if (!length) return refuse(fmt::format("Unknown time unit={} in window={}", unit, text));
  window.size *= *length;
  return window;
}

// Replaces each point by the mean of the window that ends with it. A window of time is full once a
// point has left it, or is just before it.
void average(AnswerSeries& series, Window window) {
  std::size_t begin = 0;  // of the window
  bool full = false;
  std::vector<double> numbers;
  numbers.reserve(series.values.size());
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    numbers.push_back(series.floats[i] ? as_double(series.values[i])
                                       : static_cast<double>(as_integer(series.values[i])));
  }
  // A running sum would keep NaN and rounding errors; it is computed again after a NaN leaves.
  double sum = 0;
  std::size_t nans = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (std::isnan(numbers[i])) {
      ++nans;
    } else {
      sum += numbers[i];
    }
    const auto outside = [&] {
      if (!window.time) return static_cast<std::int64_t>(i - begin) >= window.size;
      return series.times[i] - series.times[begin] >= window.size;
    };
    while (outside()) {
      if (std::isnan(numbers[begin])) {
        --nans;
      } else {
        sum -= numbers[begin];
      }
      ++begin;
      full = true;
    }
    const std::size_t count = i + 1 - begin;
    const bool complete = window.time ? full : static_cast<std::int64_t>(count) >= window.size;
    double value = 0;
    if (complete) value = nans > 0 ? std::nan("") : sum / static_cast<double>(count);
    series.values[i] = double_bits(value);
    series.floats[i] = true;
  }
}

// Parses "'5min'" to milliseconds. The greatest result exceeds all times, and the sum of all nested
// shifts fits in an integer.
Result<std::int64_t> parse_shift(std::string_view text) {
  constexpr std::int64_t kShiftMsMax = kTimeEnd;
  if (text.size() < 2 || !text.starts_with('\'') || !text.ends_with('\'')) {
    return refuse("Invalid timeshift parameter: eg '10min'");
  }
  const std::string_view inside = text.substr(1, text.size() - 2);
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), count);
  if (error != std::errc{} || count < 0) return refuse(fmt::format("Invalid Parameter: {}", text));
  const std::string_view unit(end, inside.data() + inside.size());
  const auto length = unit_ms(unit);
  if (!length) {
    return refuse(fmt::format(
        "unknown time unit={} in {}: use ms, sec, min, hr, day, week, month or year", unit, text));
  }
  if (count > kShiftMsMax / *length) return refuse(fmt::format("Invalid Parameter: {}", text));
  return count * *length;
}

}  // namespace

Result<SeriesList> gexp_shift(std::vector<SeriesList> arguments,
                              std::span<const std::string> parameters) {
  if (arguments.empty()) return SeriesList();
  if (parameters.empty()) return refuse("Need amount of timeshift to perform timeshift");
  TRY(const std::int64_t shift_ms, parse_shift(parameters.front()));
  SeriesList result = flatten(std::move(arguments));
  for (AnswerSeries& series : result) {
    for (TimestampMs& time : series.times) time += shift_ms;
  }
  return result;
}

Result<SeriesList> gexp_moving_average(std::vector<SeriesList> arguments,
                                       std::span<const std::string> parameters) {
  if (arguments.empty()) return SeriesList();
  if (parameters.empty()) return refuse("Missing moving average window size");
  TRY(const Window window, parse_window(parameters.front()));
  SeriesList result = flatten(std::move(arguments));
  for (AnswerSeries& series : result) average(series, window);
  return result;
}

}  // namespace halite::query
