#include "query/engine/small_query.h"

#include <algorithm>
#include <cstdint>

#include "common/units.h"

namespace halite::query {
namespace {

constexpr std::int64_t kQuickSeriesHours = 64;
constexpr std::uint64_t kQuickPoints = 128 << 10;
constexpr std::uint64_t kQuickBytes = 8 << 20;
constexpr std::size_t kQuickNameBytes = 4'096;     // for one filter
constexpr std::int64_t kShortestMs = kHourMs / 2;  // a shorter time costs as much
constexpr std::int64_t kLongestMs = kQuickSeriesHours * kHourMs + 1;  // for one series: too long

// The longest time that a sub-query reads, in whole buckets.
std::int64_t longest_ms(const Question& question) {
  std::int64_t bucket = 0;
  for (const SubQuestion& sub : question.queries) {
    if (sub.downsample) bucket = std::max(bucket, sub.downsample->interval_ms);
  }
  const std::int64_t asked = question.end - question.begin;
  return std::max(kShortestMs, asked > kLongestMs - bucket ? kLongestMs : asked + bucket);
}

std::uint64_t series_in(std::int64_t time_ms) {
  return static_cast<std::uint64_t>(kQuickSeriesHours * kHourMs / time_ms);
}

// The approximate number of series that it names. Filters other than literals count as too many,
// because they must be matched against every value.
std::uint64_t named_series(const SubQuestion& sub) {
  constexpr std::uint64_t kTooMany = kQuickSeriesHours * kHourMs / kShortestMs + 1;
  if (!sub.tsuids.empty()) return sub.tsuids.size();
  std::uint64_t most = 0;
  for (const Filter& filter : sub.filters) {
    const std::string& pattern = filter.filter.pattern;
    if (filter.filter.type != storage::FilterType::kLiteralOr) return kTooMany;
    if (pattern.size() > kQuickNameBytes) return kTooMany;
    const auto bars = static_cast<std::uint64_t>(std::ranges::count(pattern, '|'));
    most = std::max(most, bars + 1);
  }
  return most == 0 ? kTooMany : most;
}

}  // namespace

bool may_be_small(const Question& question) {
  if (question.delete_points || question.end <= question.begin) return false;
  std::uint64_t series = 0;
  for (const SubQuestion& sub : question.queries) {
    if (sub.wants_histograms()) return false;
    series += named_series(sub);
  }
  return series > 0 && series <= series_in(longest_ms(question));
}

QueryLimits small_query_limits(const Question& question, QueryLimits limits) {
  limits.series_max = std::min(limits.series_max, series_in(longest_ms(question)));
  limits.points_max = std::min(limits.points_max, kQuickPoints);
  limits.output_points_max = std::min(limits.output_points_max, kQuickPoints);
  limits.bytes_max = std::min(limits.bytes_max, kQuickBytes);
  return limits;
}

}  // namespace halite::query
