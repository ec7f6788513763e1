#include "query/promql/eval/aggregate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include "common/bytes/utf8.h"
#include "query/promql/eval/counted_work.h"
#include "query/promql/eval/reduce.h"
#include "query/promql/eval/row_groups.h"
#include "query/promql/eval/select.h"
#include "query/promql/go_text.h"
#include "query/promql/number_text.h"

namespace halite::query::promql {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// The limits of topk's parameter; the doubles next to those of an int64.
constexpr double kCountBegin = -9223372036854775808.0;
constexpr double kCountEnd = 9223372036854774784.0;

// Of the parameter at all steps. An infinity is stronger than a NaN, which is stronger than others.
struct Extent {
  explicit Extent(std::span<const double> numbers) {
    for (const double x : numbers) {
      nan |= std::isnan(x);
      least = std::min(least, x);  // a NaN changes nothing
      most = std::max(most, x);
    }
    if (nan && least > -kInfinity) least = kNaN;
    if (nan && most < kInfinity) most = kNaN;
  }

  double least = kInfinity;
  double most = -kInfinity;
  bool nan = false;
};

// How many rows of each group stay at each step. Empty: none at any.
Result<std::vector<std::size_t>> kept_counts(std::span<const double> numbers, std::size_t rows) {
  const Extent extent(numbers);
  if (extent.most < 1) return std::vector<std::size_t>();
  if (extent.nan) return fail(Errc::kInvalidArgument, "Parameter value is NaN");
  if (extent.least <= kCountBegin) {
    return fail(Errc::kInvalidArgument,
                fmt::format("Scalar value {} underflows int64", general_text(extent.least)));
  }
  if (extent.most >= kCountEnd) {
    return fail(Errc::kInvalidArgument,
                fmt::format("Scalar value {} overflows int64", general_text(extent.most)));
  }
  std::vector<std::size_t> counts;
  for (const double x : numbers) {
    counts.push_back(x < 1 ? 0 : std::min(static_cast<std::size_t>(x), rows));
  }
  return counts;
}

// From -1 to 1. Empty: all are 0.
Result<std::vector<double>> kept_ratios(const AggregateParameter& parameter,
                                        Annotations& annotations) {
  const Extent extent(parameter.numbers);
  if (extent.most == 0 && extent.least == 0) return std::vector<double>();
  if (extent.nan) return fail(Errc::kInvalidArgument, "Ratio value is NaN");
  const auto warn = [&](double wrong, int limit) {
    annotations.warn(fmt::format("ratio value should be between -1 and 1, got {}, capping to {}",
                                 general_text(wrong), limit),
                     parameter.at);
  };
  if (extent.most > 1) warn(extent.most, 1);
  if (extent.least < -1) warn(extent.least, -1);
  std::vector<double> ratios;
  for (const double x : parameter.numbers) ratios.push_back(std::clamp(x, -1.0, 1.0));
  return ratios;
}

void check_quantiles(const AggregateParameter& parameter, Annotations& annotations) {
  const Extent extent(parameter.numbers);
  if (extent.nan) annotations.check_quantile(kNaN, parameter.at);
  annotations.check_quantile(extent.most, parameter.at);
  annotations.check_quantile(extent.least, parameter.at);
}

// Rows of count_values by group and value.
using ValueRows = boost::unordered_flat_map<std::pair<std::uint32_t, std::uint64_t>, std::size_t>;

Result<Vector> count_values(const Aggregation& aggregation, const Vector& input,
                            const AggregateParameter& parameter, std::size_t steps,
                            TextArena& texts) {
  if (parameter.label.empty() || !is_utf8(parameter.label)) {
    return fail(Errc::kInvalidArgument,
                fmt::format("invalid label name {}", go_quoted(parameter.label)));
  }
  // The label is that of the value, whatever it was before.
  const std::string label(parameter.label);
  std::vector<std::string> names = aggregation.grouping;
  bool stays = true;
  if (aggregation.without) {
    stays = label != "__name__" && std::ranges::find(names, label) == names.end();
    names.push_back(label);
  } else {
    std::erase(names, label);
  }
  const std::string_view kept_label = texts.keep(label);
  RowGroups groups(std::move(names), !aggregation.without);
  Vector result;
  ValueRows rows;
  CountedWork work(*parameter.budget);
  for (const Row& row : input.rows) {
    const std::uint32_t group = groups.of(row.labels);
    for (std::size_t i = 0; i < steps; ++i) {
      const double value = row.values[i];
      if (is_absent(value)) continue;
      const double shown = std::isnan(value) ? kNaN : value;  // all NaN are one value
      const std::uint64_t bits = stays ? std::bit_cast<std::uint64_t>(shown) : 0;
      const auto [found, added] = rows.try_emplace({group, bits}, result.rows.size());
      if (added) {
        if (result.rows.size() >= parameter.values_max / steps) {
          return fail(Errc::kTooLarge,
                      "query processing would load too many samples into memory in query "
                      "execution");
        }
        TRY_VOID(work.values(steps));
        Labels labels = groups.reduce(row.labels);
        if (stays) labels.set(kept_label, texts.keep(fixed_text(value)));
        result.rows.push_back({std::move(labels), std::vector<double>(steps, kAbsent)});
      }
      double& count = result.rows[found->second].values[i];
      count = is_absent(count) ? 1 : count + 1;
    }
  }
  return result;
}

}  // namespace

Result<Vector> aggregate(const Aggregation& aggregation, Vector input,
                         const AggregateParameter& parameter, const Steps& steps, bool instant,
                         TextArena& texts, Annotations& annotations) {
  const AggregateOp op = aggregation.op;
  if (op == AggregateOp::kCountValues) {
    return count_values(aggregation, input, parameter, steps.count, texts);
  }
  RowGroups groups(aggregation.grouping, !aggregation.without);
  switch (op) {
    case AggregateOp::kTopk:
    case AggregateOp::kBottomk:
    case AggregateOp::kLimitk: {
      TRY(const std::vector<std::size_t> counts, kept_counts(parameter.numbers, input.rows.size()));
      if (counts.empty()) return Vector();
      const bool ordered = instant && steps.count == 1;
      return select_some(op, std::move(input), groups, counts, ordered);
    }
    case AggregateOp::kLimitRatio: {
      TRY(const std::vector<double> ratios, kept_ratios(parameter, annotations));
      if (ratios.empty()) return Vector();
      return select_ratio(std::move(input), ratios);
    }
    case AggregateOp::kQuantile:
      check_quantiles(parameter, annotations);
      break;
    default:
      break;
  }
  return reduce(op, input, groups, parameter.numbers, steps.count);
}

double quantile_of(double q, std::span<double> values) {
  if (values.empty() || std::isnan(q)) return kNaN;
  if (q < 0) return -kInfinity;
  if (q > 1) return kInfinity;
  const double last = static_cast<double>(values.size()) - 1;
  const double rank = q * last;
  const double lower = std::floor(rank);
  const double weight = rank - lower;
  // NaN are the least.
  const auto less = [](double a, double b) { return a < b || (std::isnan(a) && !std::isnan(b)); };
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(lower);
  std::nth_element(values.begin(), at, values.end(), less);
  const double above = lower < last ? *std::min_element(at + 1, values.end(), less) : *at;
  return *at * (1 - weight) + above * weight;
}

}  // namespace halite::query::promql
