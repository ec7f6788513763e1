#include "app/bulk/compare_points.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>
#include <xxhash.h>

#include "app/bulk/source_walk.h"
#include "common/units.h"

namespace halite::app {
namespace {

// The hours compared at once: so many of all series, or those of one day.
constexpr std::size_t kHoursAtOnce = 2 << 20;

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

// A series and the number of an hour since 1970.
struct SeriesHour {
  std::string series;
  std::int64_t hour = 0;
  auto operator<=>(const SeriesHour&) const = default;
};

// The points of an hour, in any order.
struct HourDigest {
  std::uint64_t count = 0;
  std::uint64_t hash = 0;  // the sum of those of its points
  bool operator==(const HourDigest&) const = default;
};

using Digests = boost::unordered_flat_map<std::uint64_t, HourDigest>;  // by hash of a SeriesHour

std::uint64_t hash_of(std::string_view series, std::int64_t hour) {
  return XXH3_64bits_withSeed(series.data(), series.size(), static_cast<std::uint64_t>(hour));
}

std::uint64_t hash_of(const ingest::PointBits& point) {
  const std::uint64_t kind = (point.flags & kFloat) != 0 ? 1 : 0;
  const std::array<std::uint64_t, 2> bits = {static_cast<std::uint64_t>(point.time), point.value};
  return XXH3_64bits_withSeed(bits.data(), sizeof(bits), kind);
}

// Sees each point of a walk; an hour may come in several slices.
template <class See>
class Seeing final : public SliceSink {
 public:
  explicit Seeing(See see) : see_(std::move(see)) {}

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
      see_(ingest::text_of(series.series), series.points);
    }
    return {};
  }
  Result<void> reached(const SourcePosition& /*position*/) override { return {}; }

 private:
  See see_;
};

class Comparison {
 public:
  Comparison(PointSource& first, PointSource& second, const PointComparison& options)
      : first_(first), second_(second), options_(options) {}

  Result<PointDifferences> run();

 private:
  using Points = std::map<SeriesHour, std::map<TimestampMs, ingest::PointBits>>;

  // Returns the number of hours.
  Result<std::size_t> compare(const std::string& metric, TimeRange range);
  Result<Digests> digest(PointSource& source, const std::string& metric, TimeRange range,
                         std::uint64_t& points) const;
  Result<void> compare_hours(const std::string& metric, TimeRange range, const Digests& first,
                             const Digests& second);
  Result<Points> read_hours(PointSource& source, const std::string& metric, TimeRange range,
                            const Digests& first, const Digests& second) const;
  void compare_hour(const SeriesHour& hour, const std::map<TimestampMs, ingest::PointBits>& first,
                    const std::map<TimestampMs, ingest::PointBits>& second);
  void example(std::string text);
  [[nodiscard]] WalkOptions walk(TimeRange range) const {
    return {.range = range, .from = {}, .threads = options_.threads};
  }

  PointSource& first_;
  PointSource& second_;
  const PointComparison& options_;
  PointDifferences found_;
};

Result<PointDifferences> Comparison::run() {
  TRY(std::vector<std::string> metrics, first_.metrics());
  TRY(const std::vector<std::string> others, second_.metrics());
  metrics.insert(metrics.end(), others.begin(), others.end());
  std::ranges::sort(metrics);
  metrics.erase(std::ranges::unique(metrics).begin(), metrics.end());
  for (const std::string& metric : metrics) {
    std::int64_t window = kDayMs;
    for (TimestampMs begin = options_.range.begin; begin < options_.range.end;) {
      const TimestampMs end = window > options_.range.end - begin
                                  ? options_.range.end
                                  : (begin + window) / kDayMs * kDayMs;
      TRY(const std::size_t hours, compare(metric, {.begin = begin, .end = end}));
      if (hours < kHoursAtOnce / 4) window *= 2;
      if (hours > kHoursAtOnce) window = std::max(kDayMs, window / 4);
      begin = end;
    }
  }
  return std::move(found_);
}

Result<Digests> Comparison::digest(PointSource& source, const std::string& metric, TimeRange range,
                                   std::uint64_t& points) const {
  Digests digests;
  Seeing sink([&](const std::string& series, const std::vector<ingest::PointBits>& all) {
    points += all.size();
    for (const ingest::PointBits& point : all) {
      HourDigest& digest = digests[hash_of(series, point.time / kHourMs)];
      ++digest.count;
      digest.hash += hash_of(point);
    }
  });
  OneMetric one(source, metric);
  TRY_VOID(walk_source(one, sink, walk(range)));
  return digests;
}

Result<std::size_t> Comparison::compare(const std::string& metric, TimeRange range) {
  std::uint64_t ignored = 0;
  TRY(Digests first, digest(first_, metric, range, found_.points));
  TRY(Digests second, digest(second_, metric, range, ignored));
  const std::size_t hours = std::max(first.size(), second.size());
  // Leaves what differs.
  boost::unordered::erase_if(first, [&second](const auto& hour) {
    const auto other = second.find(hour.first);
    if (other == second.end() || other->second != hour.second) return false;
    second.erase(other);
    return true;
  });
  if (!first.empty() || !second.empty()) {
    TRY_VOID(compare_hours(metric, range, first, second));
  }
  return hours;
}

Result<Comparison::Points> Comparison::read_hours(PointSource& source, const std::string& metric,
                                                  TimeRange range, const Digests& first,
                                                  const Digests& second) const {
  Points hours;
  Seeing sink([&](const std::string& series, const std::vector<ingest::PointBits>& all) {
    for (const ingest::PointBits& point : all) {
      const std::int64_t hour = point.time / kHourMs;
      const std::uint64_t hash = hash_of(series, hour);
      if (!first.contains(hash) && !second.contains(hash)) continue;
      hours[{.series = series, .hour = hour}].insert_or_assign(point.time, point);
    }
  });
  OneMetric one(source, metric);
  TRY_VOID(walk_source(one, sink, walk(range)));
  return hours;
}

// Reads again what differs. The sources may have changed since.
Result<void> Comparison::compare_hours(const std::string& metric, TimeRange range,
                                       const Digests& first, const Digests& second) {
  TRY(const Points ours, read_hours(first_, metric, range, first, second));
  TRY(const Points theirs, read_hours(second_, metric, range, first, second));
  std::set<SeriesHour> hours;
  for (const auto& [hour, points] : ours) hours.insert(hour);
  for (const auto& [hour, points] : theirs) hours.insert(hour);
  static const std::map<TimestampMs, ingest::PointBits> kNone;
  for (const SeriesHour& hour : hours) {
    const auto one = ours.find(hour);
    const auto other = theirs.find(hour);
    compare_hour(hour, one == ours.end() ? kNone : one->second,
                 other == theirs.end() ? kNone : other->second);
  }
  return {};
}

void Comparison::compare_hour(const SeriesHour& hour,
                              const std::map<TimestampMs, ingest::PointBits>& first,
                              const std::map<TimestampMs, ingest::PointBits>& second) {
  for (const auto& [time, point] : first) {
    const auto other = second.find(time);
    if (other == second.end()) {
      ++found_.missing;
      example(fmt::format("missing: {} at {}", hour.series, time));
    } else if (hash_of(other->second) != hash_of(point)) {
      ++found_.different;
      example(fmt::format("another value: {} at {}", hour.series, time));
    }
  }
  for (const auto& [time, point] : second) {
    if (first.contains(time)) continue;
    ++found_.extra;
    example(fmt::format("only in the target: {} at {}", hour.series, time));
  }
}

void Comparison::example(std::string text) {
  if (found_.examples.size() < options_.examples_max) found_.examples.push_back(std::move(text));
}

}  // namespace

Result<PointDifferences> compare_points(PointSource& first, PointSource& second,
                                        const PointComparison& options) {
  return Comparison(first, second, options).run();
}

}  // namespace halite::app
