// sum, difference, multiply, divide
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "query/expression/join.h"
#include "query/gexp/functions.h"

namespace halite::query {
namespace {

using Operation = double (*)(double left, double right);

// The joined series of a row; null: the argument has no such series.
using Row = std::vector<const ExpressionSeries*>;

Result<AnswerSeries> combine(const SeriesMeaning& meaning, const Row& row, Operation operation) {
  AnswerSeries result;
  result.metric = meaning.first_metric();
  for (const auto& [key_uid, tag] : meaning.tags) {
    result.tags.emplace(tag.key, tag.value);
    result.tag_ids.push_back({.key = tag.key, .key_uid = key_uid, .value_uid = tag.value_uid});
  }
  for (const auto& [key_uid, key] : meaning.aggregate_tags) {
    result.aggregate_tags.push_back(key);
    result.aggregate_tag_ids.push_back({.key = key, .key_uid = key_uid});
  }
  result.has_annotations = true;
  for (const ExpressionSeries* const series : row) {
    if (series == nullptr) continue;
    if (result.times.empty()) result.times = series->times;
    // OpenTSDB iterates over all in step, and fails if one ends before the others.
    if (result.times != series->times) return fail(Errc::kInvalidArgument, "No more elements");
  }
  const auto value_at = [](const ExpressionSeries* series, std::size_t i) {
    return series == nullptr || std::isnan(series->values[i]) ? 0.0 : series->values[i];
  };
  for (std::size_t i = 0; i < result.times.size(); ++i) {
    double value = value_at(row.front(), i);
    for (std::size_t r = 1; r < row.size(); ++r) value = operation(value, value_at(row[r], i));
    result.values.push_back(double_bits(value));
    result.floats.push_back(true);
  }
  return result;
}

Result<SeriesList> calculate(const std::vector<SeriesList>& arguments, std::string_view name,
                             Operation operation) {
  if (arguments.empty()) return SeriesList();
  if (arguments.size() < 2 || arguments.size() > 26) {
    return fail(Errc::kInvalidArgument,
                fmt::format("Must have 2 to 26 series, got {} instead", arguments.size()));
  }
  std::vector<std::vector<ExpressionSeries>> inputs(arguments.size());
  std::vector<JoinInput> joined;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (const AnswerSeries& series : arguments[i]) {
      if (!series.times.empty()) inputs[i].push_back(expression_series(series));
    }
    joined.push_back(
        {.id = std::string(1, static_cast<char>('a' + i)), .series = &inputs[i], .query_tags = {}});
  }
  TRY(const Join matched, join(joined, {.include_agg_tags = false}, name));
  SeriesList result;
  for (const JoinedSeries& one : matched.series) {
    Row row;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      row.push_back(one.members[i] ? &inputs[i][*one.members[i]] : nullptr);
    }
    TRY(AnswerSeries combined, combine(one.meaning, row, operation));
    result.push_back(std::move(combined));
  }
  return result;
}

}  // namespace

Result<SeriesList> gexp_sum(std::vector<SeriesList> arguments, std::span<const std::string>) {
  return calculate(arguments, "sumSeries", [](double a, double b) { return a + b; });
}

Result<SeriesList> gexp_difference(std::vector<SeriesList> arguments,
                                   std::span<const std::string>) {
  return calculate(arguments, "diffSeries", [](double a, double b) { return a - b; });
}

Result<SeriesList> gexp_multiply(std::vector<SeriesList> arguments, std::span<const std::string>) {
  return calculate(arguments, "multiplySeries", [](double a, double b) { return a * b; });
}

// Division by zero gives zero.
Result<SeriesList> gexp_divide(std::vector<SeriesList> arguments, std::span<const std::string>) {
  return calculate(arguments, "divideSeries",
                   [](double a, double b) { return b == 0 ? 0.0 : a / b; });
}

}  // namespace halite::query
