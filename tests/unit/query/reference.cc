#include "tests/unit/query/reference.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "query/parse/aggregator.h"
#include "query/parse/time.h"
#include "query/plan/calendar.h"

namespace halite::query {
namespace {

using Points = std::vector<ReferencePoint>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double number_of(const ReferencePoint& point) {
  return point.is_float ? point.number : static_cast<double>(point.integer);
}

ReferencePoint number_at(TimestampMs time, double number) {
  return {.time = time, .is_float = true, .integer = 0, .number = number};
}

// ---- aggregates over whole lists ----------------------------------------------------------------

std::string family(const std::string& name) {
  if (name == "zimsum" || name == "pfsum") return "sum";
  if (name == "mimmin") return "min";
  if (name == "mimmax") return "max";
  if (name.starts_with("p") || name.starts_with("ep")) return "percentile";
  return name;
}

double deviation(const std::vector<double>& values) {
  double mean = values[0];
  double m2 = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double next = mean + (values[i] - mean) / static_cast<double>(i + 1);
    m2 += (values[i] - mean) * (values[i] - next);
    mean = next;
  }
  return values.size() == 1 ? 0 : std::sqrt(m2 / static_cast<double>(values.size()));
}

// As Java sorts: -0.0 before 0.0.
void sort_numbers(std::vector<double>& numbers) {
  std::ranges::sort(numbers, [](double a, double b) { return std::strong_order(a, b) < 0; });
}

double percentile(const std::string& name, std::vector<double> sorted, bool estimate) {
  sort_numbers(sorted);
  const double q = find_aggregator(name)->quantile / 100;
  const auto n = static_cast<double>(sorted.size());
  if (sorted.size() == 1) return sorted[0];
  double position = q * (n + 1);
  if (estimate && name.ends_with("r3")) position = q <= 0.5 / n ? 0 : std::nearbyint(n * q);
  if (estimate && name.ends_with("r7")) position = 1 + (n - 1) * q;
  if (position < 1) return sorted.front();
  if (position >= n) return sorted.back();
  const double below = std::floor(position);
  const auto at = static_cast<std::size_t>(below) - 1;
  return sorted[at] + (position - below) * (sorted[at + 1] - sorted[at]);
}

double aggregate_numbers(const std::string& name, const std::vector<double>& all) {
  const std::string what = family(name);
  if (what == "first") return all.front();
  if (what == "last" || what == "none") return all.back();
  if (what == "mult") {
    double product = 1;
    for (const double value : all) product *= value;
    return product;
  }
  std::vector<double> values;
  for (const double value : all) {
    if (!std::isnan(value)) values.push_back(value);
  }
  if (what == "count") return static_cast<double>(values.size());
  if (values.empty()) return kNan;
  if (what == "diff") {
    const auto first = std::ranges::find_if(all, [](double v) { return !std::isnan(v); });
    return first + 1 == all.end() ? 0 : all.back() - *first;
  }
  // OpenTSDB begins with an infinity and takes it for "nothing found" at the end.
  const double end = std::numeric_limits<double>::infinity();
  if (what == "min") return std::ranges::min(values) == end ? kNan : std::ranges::min(values);
  if (what == "max") return std::ranges::max(values) == -end ? kNan : std::ranges::max(values);
  if (what == "dev") return deviation(values);
  if (what == "percentile") return percentile(name, values, false);
  if (what == "median") {
    sort_numbers(values);
    return values[values.size() / 2];
  }
  double sum = 0;
  for (const double value : values) sum += what == "squareSum" ? value * value : value;
  return what == "avg" ? sum / static_cast<double>(values.size()) : sum;
}

using Wide = __int128;

// Java's integers wrap, and its casts of doubles to them stop at the ends.
std::int64_t wrapped(Wide value) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
}

std::int64_t whole_of(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

std::int64_t aggregate_whole(const std::string& name, std::vector<std::int64_t> values) {
  const std::string what = family(name);
  if (what == "first") return values.front();
  if (what == "last" || what == "none") return values.back();
  if (what == "count") return static_cast<std::int64_t>(values.size());
  if (what == "diff") return wrapped(Wide{values.back()} - values.front());
  if (what == "min") return std::ranges::min(values);
  if (what == "max") return std::ranges::max(values);
  const std::vector<double> numbers(values.begin(), values.end());
  if (what == "dev") return whole_of(deviation(numbers));
  if (what == "percentile") return whole_of(percentile(name, numbers, true));
  if (what == "median") {
    std::ranges::sort(values);
    return values[values.size() / 2];
  }
  Wide total = what == "mult" ? 1 : 0;
  for (const std::int64_t value : values) {
    if (what == "mult") {
      total *= value;
    } else {
      total += what == "squareSum" ? Wide{value} * value : Wide{value};
    }
    total = wrapped(total);
  }
  if (what == "avg") total /= static_cast<std::int64_t>(values.size());
  return static_cast<std::int64_t>(total);
}

// ---- one series ---------------------------------------------------------------------------------

TimeRange scan_of(const Question& question, const SubQuestion& sub) {
  const std::int64_t iv = sub.downsample ? sub.downsample->interval_ms : 0;
  std::int64_t start = question.begin / 1000;
  std::int64_t end = (question.end - 1) / 1000 + 1;
  if (iv > 0) {
    start -= (1000 * start % iv) / 1000;
    end += (iv - 1000 * end % iv) / 1000;
    if (end % 3600 != 0) end += 3600 - end % 3600;
  } else {
    end += 3600 - end % 3600;
  }
  start -= start % 3600;
  return {.begin = start * 1000, .end = end * 1000};
}

double aggregate_bucket(const std::string& function, const std::vector<double>& values) {
  return aggregate_numbers(function, values);
}

// The buckets' beginnings that hold the times, each time's own.
std::vector<TimestampMs> bucket_of(const Points& points, const DownsampleSpec& spec,
                                   const std::optional<Calendar>& calendar) {
  std::vector<TimestampMs> starts;
  TimestampMs start = 0;
  for (const ReferencePoint& point : points) {
    if (!calendar) {
      starts.push_back(point.time - point.time % spec.interval_ms);
      continue;
    }
    if (starts.empty()) start = calendar->bucket_start(point.time);
    while (calendar->next(start) <= point.time) start = calendar->next(start);
    starts.push_back(start);
  }
  return starts;
}

Points filled(const std::map<TimestampMs, double>& buckets, const DownsampleSpec& spec,
              const std::optional<Calendar>& calendar, TimeRange scan) {
  TimestampMs at =
      calendar ? calendar->bucket_start(scan.begin) : scan.begin - scan.begin % spec.interval_ms;
  TimestampMs end =
      calendar ? calendar->bucket_start(scan.end) : scan.end - scan.end % spec.interval_ms;
  if (calendar && at == end) end = calendar->next(at);
  Points out;
  while (at < end) {
    const auto bucket = buckets.find(at);
    const double empty = spec.fill == FillPolicy::kZero ? 0 : kNan;
    out.push_back(number_at(at, bucket == buckets.end() ? empty : bucket->second));
    at = calendar ? calendar->next(at) : at + spec.interval_ms;
  }
  return out;
}

Points downsampled(const Points& raw, const Question& question, const DownsampleSpec& spec,
                   TimeRange scan) {
  std::vector<double> values;
  if (spec.all) {
    for (const ReferencePoint& point : raw) {
      if (point.time >= question.begin && point.time < question.end - 1) {
        values.push_back(number_of(point));
      }
    }
    if (values.empty()) return {};
    return {number_at(question.begin, aggregate_bucket(spec.function, values))};
  }
  std::optional<Calendar> calendar;
  if (spec.calendar) calendar.emplace(spec.unit, spec.interval, *find_time_zone(question.timezone));
  TimestampMs first = 0;
  if (calendar) {
    first = calendar->bucket_start(scan.begin);
    if (first < scan.begin) first = calendar->next(first);
  } else {
    while (first < scan.begin)
      first += (scan.begin - first + spec.interval_ms - 1) / spec.interval_ms * spec.interval_ms;
  }
  Points points;
  std::ranges::copy_if(raw, std::back_inserter(points),
                       [first](const ReferencePoint& point) { return point.time >= first; });
  const std::vector<TimestampMs> starts = bucket_of(points, spec, calendar);
  std::map<TimestampMs, std::vector<double>> lists;
  for (std::size_t i = 0; i < points.size(); ++i) lists[starts[i]].push_back(number_of(points[i]));
  std::map<TimestampMs, double> buckets;
  for (const auto& [start, list] : lists) buckets[start] = aggregate_bucket(spec.function, list);
  if (spec.fill != FillPolicy::kNone) return filled(buckets, spec, calendar, scan);
  Points out;
  for (const auto& [start, value] : buckets) out.push_back(number_at(start, value));
  return out;
}

Points rated(const Points& points, const RateSpec& rate) {
  Points out;
  ReferencePoint before;
  for (const ReferencePoint& point : points) {
    const double seconds = static_cast<double>(point.time - before.time) / 1000;
    const bool whole = !before.is_float && !point.is_float;
    double change = whole ? static_cast<double>(wrapped(Wide{point.integer} - before.integer))
                          : number_of(point) - number_of(before);
    bool drop = false;
    bool rolled = false;
    if (rate.counter && change < 0) {
      drop = rate.drop_resets;
      rolled = true;
      change = whole ? static_cast<double>(
                           wrapped(Wide{rate.counter_max} - before.integer + point.integer))
                     : static_cast<double>(rate.counter_max) - number_of(before) + number_of(point);
    }
    double result = change / seconds;
    if (rolled && rate.reset_value > 0 && result > static_cast<double>(rate.reset_value))
      result = 0;
    if (!drop) out.push_back(number_at(point.time, result));
    before = point;
  }
  return out;
}

// ---- groups -------------------------------------------------------------------------------------

struct Track {
  std::optional<ReferencePoint> seed;  // the first rate
  Points points;

  [[nodiscard]] const ReferencePoint* at_or_before(TimestampMs time) const {
    const ReferencePoint* found = seed ? &*seed : nullptr;
    for (const ReferencePoint& point : points) {
      if (point.time <= time) found = &point;
    }
    return found;
  }
  [[nodiscard]] const ReferencePoint* after(TimestampMs time) const {
    for (const ReferencePoint& point : points) {
      if (point.time > time) return &point;
    }
    return nullptr;
  }
  [[nodiscard]] bool takes_part(TimestampMs time) const {
    return !points.empty() && time <= points.back().time && at_or_before(time) != nullptr;
  }
};

bool whole_at(const std::vector<Track>& tracks, TimestampMs time) {
  for (const Track& track : tracks) {
    const ReferencePoint* current = track.takes_part(time) ? track.at_or_before(time) : nullptr;
    const ReferencePoint* next = track.after(time);
    if ((current != nullptr && current->is_float) || (next != nullptr && next->is_float)) {
      return false;
    }
  }
  return true;
}

std::int64_t whole_value(const Track& track, TimestampMs time, Interpolation interpolation) {
  const ReferencePoint& from = *track.at_or_before(time);
  if (from.time == time || interpolation == Interpolation::kPrevious) return from.integer;
  if (interpolation == Interpolation::kZero) return 0;
  if (interpolation == Interpolation::kMax) return std::numeric_limits<std::int64_t>::max();
  if (interpolation == Interpolation::kMin) return std::numeric_limits<std::int64_t>::min();
  const ReferencePoint& to = *track.after(time);
  const std::int64_t rise = wrapped(Wide{to.integer} - from.integer);
  const std::int64_t area = wrapped(Wide{time - from.time} * rise);
  return wrapped(Wide{from.integer} + area / (to.time - from.time));
}

double number_value(const Track& track, TimestampMs time, Interpolation interpolation, bool rate) {
  const ReferencePoint& from = *track.at_or_before(time);
  const double y0 = number_of(from);
  if (from.time == time || rate || interpolation == Interpolation::kPrevious) return y0;
  if (interpolation == Interpolation::kZero) return 0;
  if (interpolation == Interpolation::kMax) return std::numeric_limits<double>::max();
  if (interpolation == Interpolation::kMin) return std::numeric_limits<double>::lowest();
  const ReferencePoint& to = *track.after(time);
  return y0 + static_cast<double>(time - from.time) * (number_of(to) - y0) /
                  static_cast<double>(to.time - from.time);
}

}  // namespace

std::vector<ReferencePoint> reference_answer(
    const Question& question, const SubQuestion& sub,
    const std::vector<const test::SampleSeries*>& members) {
  const TimeRange scan = scan_of(question, sub);
  const Interpolation interpolation = find_aggregator(sub.aggregator)->interpolation;
  std::vector<Track> tracks;
  std::set<TimestampMs> times;
  for (const test::SampleSeries* const member : members) {
    Points points;
    for (const test::SamplePoint& point : member->points) {
      if (point.time < scan.begin || point.time >= scan.end) continue;
      points.push_back({.time = point.time,
                        .is_float = point.is_float,
                        .integer = as_integer(point.value),
                        .number = as_double(point.value)});
    }
    if (points.empty()) continue;
    if (sub.downsample) points = downsampled(points, question, *sub.downsample, scan);
    if (sub.rate) points = rated(points, *sub.rate);
    std::erase_if(points, [scan](const ReferencePoint& p) { return p.time < scan.begin; });
    Track track;
    if (sub.rate && !points.empty()) {
      if (points.size() > 1) track.seed = points.front();
      points.erase(points.begin());
    }
    for (const ReferencePoint& point : points) times.insert(point.time);
    track.points = std::move(points);
    tracks.push_back(std::move(track));
  }
  Points out;
  for (const TimestampMs time : times) {
    if (!question.whole_scan && (time < question.begin || time >= question.end)) continue;
    std::vector<std::int64_t> integers;
    std::vector<double> numbers;
    const bool whole = !sub.rate && whole_at(tracks, time);
    for (const Track& track : tracks) {
      if (!track.takes_part(time)) continue;
      if (whole) {
        integers.push_back(whole_value(track, time, interpolation));
      } else {
        numbers.push_back(number_value(track, time, interpolation, sub.rate.has_value()));
      }
    }
    if (whole) {
      out.push_back({.time = time,
                     .is_float = false,
                     .integer = aggregate_whole(sub.aggregator, integers),
                     .number = 0});
    } else {
      out.push_back(number_at(time, aggregate_numbers(sub.aggregator, numbers)));
    }
  }
  return out;
}

}  // namespace halite::query
