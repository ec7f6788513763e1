// movingAverage
#include <charconv>
#include <cmath>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "query/gexp/functions.h"

namespace halite::query {
namespace {

std::unexpected<Error> refuse(std::string message) {
  return fail(Errc::kInvalidArgument, std::move(message));
}

constexpr std::string_view kBadWindow =
    "Moving average window must be an integer greater than zero";

struct Window {
  std::int64_t size = 0;  // points, or milliseconds
  bool time = false;
};

std::optional<std::int64_t> unit_ms(std::string_view unit) {
  if (unit == "sec" || unit == "s") return 1'000;
  if (unit == "min" || unit == "m") return 60'000;
  if (unit == "hr" || unit == "hour" || unit == "h") return 3'600'000;
  if (unit == "day" || unit == "d") return 86'400'000;
  return std::nullopt;
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

// The mean of the points of the window that ends with a point. A window of time is full once a
// point has left it, or stands just before it.
void average(AnswerSeries& series, Window window) {
  std::size_t begin = 0;  // of the window
  bool full = false;
  std::vector<double> numbers;
  numbers.reserve(series.values.size());
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    numbers.push_back(series.floats[i] ? as_double(series.values[i])
                                       : static_cast<double>(as_integer(series.values[i])));
  }
  // A running sum would carry NaN and rounding on for ever; it is made anew after a NaN left it.
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

}  // namespace

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
