#include "query/gexp/functions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/read_number.h"
#include "query/parse/refuse.h"

namespace halite::query {
namespace {

using Texts = std::span<const std::string>;

double number(const AnswerSeries& series, std::size_t i) {
  return series.floats[i] ? as_double(series.values[i])
                          : static_cast<double>(as_integer(series.values[i]));
}

void make_absolute(AnswerSeries& series) {
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    if (series.floats[i]) {
      series.values[i] = double_bits(std::abs(as_double(series.values[i])));
      continue;
    }
    const std::int64_t value = as_integer(series.values[i]);
    // As in Java, the absolute value of the least integer is itself.
    if (value < 0) {
      series.values[i] =
          integer_bits(static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(value)));
    }
  }
}

Result<SeriesList> absolute(std::vector<SeriesList> arguments, Texts) {
  SeriesList result = flatten(std::move(arguments));
  for (AnswerSeries& series : result) make_absolute(series);
  return result;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

// alias(q,template): the template becomes the metric's name; "@host" in it is the tag's value. As
// in OpenTSDB, the result has no tags, and values become absolute.
Result<SeriesList> alias(std::vector<SeriesList> arguments, Texts parameters) {
  if (arguments.empty()) return refuse("No query results");
  if (parameters.empty()) return refuse("Missing the alias");
  SeriesList result = std::move(arguments.front());
  for (AnswerSeries& series : result) {
    std::string name = fmt::format("{}", fmt::join(parameters, ","));
    for (const auto& [key, value] : series.tags) replace_all(name, fmt::format("@{}", key), value);
    series.metric = std::move(name);
    series.tags.clear();
    series.tag_ids.clear();
    series.aggregate_tags.clear();
    series.aggregate_tag_ids.clear();
    make_absolute(series);
  }
  return result;
}

// Digits, points and signs, as in Java.
std::optional<double> parse_factor(std::string_view text) {
  if (text.find_first_not_of("-0123456789.") != std::string_view::npos) return std::nullopt;
  double value = 0;
  if (!read_number(text, value)) return std::nullopt;
  return value;
}

// scale(q,factor): integers stay integers if the factor is whole.
Result<SeriesList> scale(std::vector<SeriesList> arguments, Texts parameters) {
  if (arguments.empty()) return SeriesList();
  if (parameters.empty()) return refuse("Missing scaling factor");
  const std::string& text = parameters.front();
  const auto factor = parse_factor(text);
  if (!factor) {
    const bool numeric = text.find_first_not_of("-0123456789.") == std::string::npos;
    return refuse(numeric && !text.empty()
                      ? "Invalid parameter, must be an integer or floating point"
                      : "Unparseable scale factor value: 0.0");
  }
  const bool whole = *factor == std::floor(*factor) && std::abs(*factor) < 0x1p63;
  SeriesList result = flatten(std::move(arguments));
  for (AnswerSeries& series : result) {
    for (std::size_t i = 0; i < series.values.size(); ++i) {
      if (whole && !series.floats[i]) {
        // Wraps, as in Java.
        const auto product = static_cast<std::uint64_t>(as_integer(series.values[i])) *
                             static_cast<std::uint64_t>(static_cast<std::int64_t>(*factor));
        series.values[i] = integer_bits(static_cast<std::int64_t>(product));
      } else {
        series.values[i] = double_bits(*factor * number(series, i));
        series.floats[i] = true;
      }
    }
  }
  return result;
}

// The series with the highest keys, highest first; equal ones keep their order.
template <class KeyOf>
Result<SeriesList> highest(std::vector<SeriesList> arguments, Texts parameters, KeyOf key_of) {
  if (arguments.empty()) return SeriesList();
  if (parameters.empty()) return refuse("Need aggregation window for moving average");
  const std::string& text = parameters.front();
  if (text.find_first_not_of("0123456789") != std::string::npos) {
    return refuse(fmt::format("Unparseable top n value: {}", text));
  }
  std::int32_t count = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), count).ec != std::errc{}) {
    return refuse("Invalid parameter, must be an integer");
  }
  if (count < 1) return refuse(fmt::format("Top n value must be greater than zero: {}", count));
  SeriesList all = flatten(std::move(arguments));
  std::vector<std::pair<double, std::size_t>> keys;
  for (std::size_t i = 0; i < all.size(); ++i) keys.emplace_back(key_of(all[i]), i);
  std::ranges::sort(keys, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  keys.resize(std::min(keys.size(), static_cast<std::size_t>(count)));
  SeriesList result;
  for (const auto& [key, index] : keys) result.push_back(std::move(all[index]));
  return result;
}

constexpr double kLowest = -std::numeric_limits<double>::infinity();

double greatest_value(const AnswerSeries& series) {
  double greatest = kLowest;
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    // False for NaN.
    if (number(series, i) > greatest) greatest = number(series, i);
  }
  return greatest;
}

double last_value(const AnswerSeries& series) {
  for (std::size_t i = series.values.size(); i-- > 0;) {
    if (!std::isnan(number(series, i))) return number(series, i);
  }
  return kLowest;
}

Result<SeriesList> highest_max(std::vector<SeriesList> arguments, Texts parameters) {
  return highest(std::move(arguments), parameters, greatest_value);
}

Result<SeriesList> highest_current(std::vector<SeriesList> arguments, Texts parameters) {
  return highest(std::move(arguments), parameters, last_value);
}

struct NamedFunction {
  std::string_view name;
  GexpFunction function;
};

constexpr std::array<NamedFunction, 16> kFunctions = {{
    {"absolute", absolute},
    {"alias", alias},
    {"diffSeries", gexp_difference},
    {"difference", gexp_difference},
    {"divide", gexp_divide},
    {"divideSeries", gexp_divide},
    {"highestCurrent", highest_current},
    {"highestMax", highest_max},
    {"movingAverage", gexp_moving_average},
    {"multiply", gexp_multiply},
    {"multiplySeries", gexp_multiply},
    {"scale", scale},
    {"shift", gexp_shift},
    {"sum", gexp_sum},
    {"sumSeries", gexp_sum},
    {"timeShift", gexp_shift},
}};

}  // namespace

SeriesList flatten(std::vector<SeriesList> arguments) {
  SeriesList all;
  for (SeriesList& argument : arguments) {
    for (AnswerSeries& series : argument) all.push_back(std::move(series));
  }
  return all;
}

GexpFunction find_gexp_function(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, &NamedFunction::name);
  return found == kFunctions.end() ? nullptr : found->function;
}

bool is_gexp_function(std::string_view name) { return find_gexp_function(name) != nullptr; }

}  // namespace halite::query
