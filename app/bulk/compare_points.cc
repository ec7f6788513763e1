#include "app/bulk/compare_points.h"

#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>
#include <xxhash.h>

#include "app/bulk/source_walk.h"
#include "app/tools/one_line.h"
#include "common/units.h"
#include "ingest/formats/number_text.h"

namespace halite::app {
namespace {

// Points that are compared one by one at once, or those of one hour.
constexpr std::uint64_t kPointsAtOnce = 1 << 20;

// One metric of a source.
class OneMetric final : public PointSource {
 public:
  OneMetric(PointSource& source, std::string metric)
      : source_(source), metric_(std::move(metric)) {}
  Result<std::vector<std::string>> metrics() override { return std::vector{metric_}; }
  Result<std::vector<ingest::SeriesPoints>> read(const SourceSlice& slice,
                                                 std::size_t points_max) override {
    return source_.read(slice, points_max);
  }
  [[nodiscard]] SliceRanges ranges() const override { return source_.ranges(); }
  [[nodiscard]] bool has_parts() const override { return source_.has_parts(); }

 private:
  PointSource& source_;
  const std::string metric_;
};

// A series of the metric that is compared, and the number of an hour since 1970.
struct SeriesHour {
  std::int64_t hour = 0;
  std::uint32_t series = 0;
  auto operator<=>(const SeriesHour&) const = default;
};

std::size_t hash_value(const SeriesHour& hour) {
  return XXH3_64bits_withSeed(&hour.hour, sizeof(hour.hour), hour.series);
}

// The points of an hour, in any order.
struct HourDigest {
  std::uint64_t count = 0;
  std::uint64_t hash = 0;  // the sum of those of its points
  bool operator==(const HourDigest&) const = default;
};

using Digests = boost::unordered_flat_map<SeriesHour, HourDigest>;
using HourPoints = std::map<TimestampMs, ingest::PointBits>;

// The point, as a double if kinds do not count and a double has its value exactly.
ingest::PointBits comparable(ingest::PointBits point, bool kinds) {
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  if (kinds || (point.flags & kFloat) != 0) return point;
  const auto real = static_cast<double>(as_integer(point.value));
  if (real < kEnd && static_cast<std::int64_t>(real) != as_integer(point.value)) return point;
  if (real >= kEnd) return point;
  return ingest::double_point(point.time, double_bits(real));
}

std::uint64_t hash_of(const ingest::PointBits& any, bool kinds) {
  const ingest::PointBits point = comparable(any, kinds);
  const std::uint64_t kind = (point.flags & kFloat) != 0 ? 1 : 0;
  const std::array<std::uint64_t, 2> bits = {static_cast<std::uint64_t>(point.time), point.value};
  return XXH3_64bits_withSeed(bits.data(), sizeof(bits), kind);
}

// Passes each series of each slice to a function.
template <class Visit>
class Visitor final : public SliceSink {
 public:
  explicit Visitor(Visit visit) : visit_(std::move(visit)) {}

  struct Points final : Prepared {
    std::vector<ingest::SeriesPoints> points;
  };
  Result<std::unique_ptr<Prepared>> prepare(const SourceSlice& /*slice*/,
                                            std::vector<ingest::SeriesPoints> points) override {
    auto prepared = std::make_unique<Points>();
    prepared->points = std::move(points);
    return prepared;
  }
  Result<void> take(std::unique_ptr<Prepared> prepared) override {
    for (const ingest::SeriesPoints& series : dynamic_cast<Points&>(*prepared).points) {
      TRY_VOID(visit_(series));
    }
    return {};
  }
  Result<void> reached(const SourcePosition& /*position*/) override { return {}; }

 private:
  Visit visit_;
};

class Comparison {
 public:
  Comparison(PointSource& first, PointSource& second, const PointComparison& options)
      : first_(first), second_(second), options_(options) {}

  Result<PointDifferences> run();

 private:
  struct Difference {
    SeriesHour hour;
    HourDigest first;
    HourDigest second;
  };

  Result<void> compare_metric(const std::string& metric);
  // Returns the number of hours.
  Result<std::size_t> compare(const std::string& metric, TimeRange range);
  Result<Digests> digest(PointSource& source, const std::string& metric, TimeRange range);
  Result<void> compare_hours(const std::string& metric, TimeRange range,
                             std::span<const Difference> hours);
  Result<std::map<SeriesHour, HourPoints>> read_hours(PointSource& source,
                                                      const std::string& metric, TimeRange range,
                                                      std::span<const Difference> hours);
  void compare_hour(const SeriesHour& hour, const HourPoints& first, const HourPoints& second);
  void add_one_sided(const Difference& difference);
  std::uint32_t number_of(const SeriesName& name);
  void example(std::string_view what, std::uint32_t series, TimestampMs time);
  [[nodiscard]] WalkOptions walk(TimeRange range) const {
    return {.range = range, .from = {}, .threads = options_.threads};
  }

  PointSource& first_;
  PointSource& second_;
  const PointComparison& options_;
  PointDifferences found_;
  // Of the metric that is compared.
  std::map<SeriesName, std::uint32_t> numbers_;
  std::vector<const SeriesName*> names_;
};

Result<PointDifferences> Comparison::run() {
  TRY(std::vector<std::string> metrics, first_.metrics());
  TRY(const std::vector<std::string> others, second_.metrics());
  metrics.insert(metrics.end(), others.begin(), others.end());
  std::ranges::sort(metrics);
  metrics.erase(std::ranges::unique(metrics).begin(), metrics.end());
  for (const std::string& metric : metrics) TRY_VOID(compare_metric(metric));
  return std::move(found_);
}

Result<void> Comparison::compare_metric(const std::string& metric) {
  numbers_.clear();
  names_.clear();
  std::int64_t window = kDayMs;
  for (TimestampMs begin = options_.range.begin; begin < options_.range.end;) {
    const TimestampMs end = window > options_.range.end - begin
                                ? options_.range.end
                                : (begin + window) / kDayMs * kDayMs;
    const Result<std::size_t> hours = compare(metric, {.begin = begin, .end = end});
    if (!hours && hours.error().code == Errc::kTooLarge && window > kDayMs) {
      window = std::max(kDayMs, std::min(window, end - begin) / 16);
      continue;
    }
    if (!hours) return std::unexpected(hours.error());
    if (*hours < options_.hours_max / 4) window *= 2;
    if (options_.progress) options_.progress(found_.points);
    begin = end;
  }
  return {};
}

std::uint32_t Comparison::number_of(const SeriesName& name) {
  const auto [at, added] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (added) names_.push_back(&at->first);
  return at->second;
}

Result<Digests> Comparison::digest(PointSource& source, const std::string& metric,
                                   TimeRange range) {
  Digests digests;
  const bool divisible = range.end - range.begin > kDayMs;
  Visitor sink([&](const ingest::SeriesPoints& series) -> Result<void> {
    const std::uint32_t number = number_of(series.series);
    for (const ingest::PointBits& point : series.points) {
      HourDigest& digest = digests[{.hour = point.time / kHourMs, .series = number}];
      ++digest.count;
      digest.hash += hash_of(point, options_.kinds);
    }
    if (!divisible || digests.size() <= options_.hours_max) return {};
    return fail(Errc::kTooLarge, "too many hours to compare at once");
  });
  OneMetric one(source, metric);
  TRY_VOID(walk_source(one, sink, walk(range)));
  return digests;
}

Result<std::size_t> Comparison::compare(const std::string& metric, TimeRange range) {
  TRY(const Digests first, digest(first_, metric, range));
  if (options_.only_where_first) {
    if (first.empty()) return 0;
    const auto [least, greatest] = std::ranges::minmax(std::views::keys(first));
    range = {.begin = std::max(range.begin, least.hour * kHourMs),
             .end = std::min(range.end, (greatest.hour + 1) * kHourMs)};
  }
  TRY(const Digests second, digest(second_, metric, range));
  std::vector<Difference> differ;     // in both
  std::vector<Difference> one_sided;  // in one of them
  for (const auto& [hour, digest] : first) {
    found_.points += digest.count;
    const auto other = second.find(hour);
    if (other == second.end()) {
      one_sided.push_back({.hour = hour, .first = digest, .second = {}});
    } else if (other->second != digest) {
      differ.push_back({.hour = hour, .first = digest, .second = other->second});
    }
  }
  for (const auto& [hour, digest] : second) {
    if (!first.contains(hour)) one_sided.push_back({.hour = hour, .first = {}, .second = digest});
  }
  std::ranges::sort(differ, {}, &Difference::hour);
  std::ranges::sort(one_sided, {}, &Difference::hour);
  // Reads again what differs, a number of points at a time.
  for (std::size_t begin = 0; begin < differ.size();) {
    std::size_t end = begin;
    for (std::uint64_t points = 0; end < differ.size() && points < kPointsAtOnce; ++end) {
      points += differ[end].first.count + differ[end].second.count;
    }
    const std::span<const Difference> hours = std::span(differ).subspan(begin, end - begin);
    const TimeRange of_hours = {.begin = std::max(range.begin, hours.front().hour.hour * kHourMs),
                                .end = std::min(range.end, (hours.back().hour.hour + 1) * kHourMs)};
    TRY_VOID(compare_hours(metric, of_hours, hours));
    begin = end;
  }
  for (const Difference& difference : one_sided) add_one_sided(difference);
  return std::max(first.size(), second.size());
}

void Comparison::add_one_sided(const Difference& difference) {
  found_.missing += difference.first.count;
  found_.extra += difference.second.count;
  const std::string_view what = difference.first.count > 0 ? "missing" : "only in the target";
  example(
      fmt::format("{}, {} in this hour", what, difference.first.count + difference.second.count),
      difference.hour.series, difference.hour.hour * kHourMs);
}

Result<std::map<SeriesHour, HourPoints>> Comparison::read_hours(PointSource& source,
                                                                const std::string& metric,
                                                                TimeRange range,
                                                                std::span<const Difference> hours) {
  std::map<SeriesHour, HourPoints> read;
  for (const Difference& difference : hours) read[difference.hour];
  Visitor sink([&](const ingest::SeriesPoints& series) -> Result<void> {
    const std::uint32_t number = number_of(series.series);
    for (const ingest::PointBits& point : series.points) {
      const auto hour = read.find({.hour = point.time / kHourMs, .series = number});
      if (hour != read.end()) hour->second.insert_or_assign(point.time, point);
    }
    return {};
  });
  OneMetric one(source, metric);
  TRY_VOID(walk_source(one, sink, walk(range)));
  return read;
}

// The sources may have changed since.
Result<void> Comparison::compare_hours(const std::string& metric, TimeRange range,
                                       std::span<const Difference> hours) {
  TRY(const auto first, read_hours(first_, metric, range, hours));
  TRY(const auto second, read_hours(second_, metric, range, hours));
  for (const auto& [hour, points] : first) compare_hour(hour, points, second.at(hour));
  return {};
}

void Comparison::compare_hour(const SeriesHour& hour, const HourPoints& first,
                              const HourPoints& second) {
  for (const auto& [time, point] : first) {
    const auto other = second.find(time);
    if (other == second.end()) {
      ++found_.missing;
      example("missing", hour.series, time);
    } else if (hash_of(other->second, options_.kinds) != hash_of(point, options_.kinds)) {
      ++found_.different;
      example("another value", hour.series, time);
    }
  }
  for (const auto& [time, point] : second) {
    if (first.contains(time)) continue;
    ++found_.extra;
    example("only in the target", hour.series, time);
  }
}

void Comparison::example(std::string_view what, std::uint32_t series, TimestampMs time) {
  if (found_.examples.size() >= options_.examples_max) return;
  found_.examples.push_back(
      fmt::format("{}: {} at {}", what, shown_line(ingest::text_of(*names_[series])), time));
}

}  // namespace

Result<PointDifferences> compare_points(PointSource& first, PointSource& second,
                                        const PointComparison& options) {
  return Comparison(first, second, options).run();
}

}  // namespace halite::app
