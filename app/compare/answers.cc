#include "app/compare/answers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/bytes/read_number.h"
#include "common/java/java_double.h"
#include "common/json/json_value.h"

namespace halite::app {

namespace {

namespace json = boost::json;

using PointsByTime = std::map<std::int64_t, json::value>;
// "metric {tag=value, ...}", and a number among equal names.
using Key = std::pair<std::string, std::size_t>;
using Series = std::map<Key, PointsByTime>;

std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(value.as_string()) : json::serialize(value);
}

std::string name_of(const json::object& series) {
  std::vector<std::string> tags;
  if (const json::value* const found = series.if_contains("tags");
      found != nullptr && found->is_object()) {
    for (const auto& [key, value] : found->as_object()) {
      tags.push_back(fmt::format("{}={}", std::string_view(key), text_of(value)));
    }
  }
  std::ranges::sort(tags);
  std::vector<std::string> aggregated;
  if (const json::value* const found = series.if_contains("aggregateTags");
      found != nullptr && found->is_array()) {
    for (const json::value& tag : found->as_array()) aggregated.push_back(text_of(tag));
  }
  std::ranges::sort(aggregated);
  std::string name = fmt::format("{} {{{}}}", text_of(series.at("metric")), fmt::join(tags, ", "));
  if (!aggregated.empty()) name += fmt::format(" over {}", fmt::join(aggregated, ", "));
  return name;
}

std::optional<std::int64_t> time_of(std::string_view text) {
  std::int64_t time = 0;
  if (!read_number(text, time)) return std::nullopt;
  return time;
}

// Parses an object by time, or with `arrays` a list of pairs.
Result<PointsByTime> points_of(const json::object& series, std::string_view side) {
  PointsByTime points;
  const auto odd = [side](const json::value& what) {
    return fail(Errc::kInvalidArgument, fmt::format("{} returned invalid points: {}", side,
                                                    json::serialize(what).substr(0, 100)));
  };
  const json::value& dps = series.at("dps");
  if (const json::object* const by_time = dps.if_object()) {
    for (const auto& [text, value] : *by_time) {
      const auto time = time_of(text);
      if (!time) return odd(text);
      points.emplace(*time, value);
    }
    return points;
  }
  const json::array* const pairs = dps.if_array();
  if (pairs == nullptr) return odd(dps);
  for (const json::value& pair : *pairs) {
    const json::array* const both = pair.if_array();
    if (both == nullptr || both->size() != 2 || !both->front().is_int64()) return odd(pair);
    if (!points.emplace(both->front().as_int64(), both->back()).second) {
      return fail(Errc::kInvalidArgument, fmt::format("{} returned two points with the time {}",
                                                      side, both->front().as_int64()));
    }
  }
  return points;
}

Result<Series> series_of(std::string_view answer, std::string_view side) {
  boost::system::error_code problem;
  const json::value parsed = parse_json_value(answer, problem);
  if (problem || !parsed.is_array()) {
    return fail(Errc::kInvalidArgument,
                fmt::format("{} did not return a list of series: {}", side, answer.substr(0, 200)));
  }
  Series found;
  std::map<std::string, std::size_t> seen;
  for (const json::value& element : parsed.as_array()) {
    const json::object* const series = element.if_object();
    if (series == nullptr || !series->contains("metric") || !series->contains("dps")) {
      continue;  // statistics
    }
    TRY(PointsByTime points, points_of(*series, side));
    std::string name = name_of(*series);
    const std::size_t which = seen[name]++;
    found.emplace(Key(std::move(name), which), std::move(points));
  }
  return found;
}

std::string shown(const json::value& value) {
  return value.is_double() ? java_double(value.as_double()) : json::serialize(value);
}

bool same_value(const json::value& a, const json::value& b, double tolerance) {
  if (!a.is_number() || !b.is_number()) return text_of(a) == text_of(b);  // "NaN", null
  if (!a.is_double() && !b.is_double()) return a == b;
  const double x = a.to_number<double>();
  const double y = b.to_number<double>();
  return x == y || std::abs(x - y) <= tolerance * std::max(std::abs(x), std::abs(y));
}

class DifferenceLines {
 public:
  explicit DifferenceLines(const CompareRules& rules) : rules_(rules) {}

  void only(std::string_view side, const Key& key, std::size_t points) {
    if (!begin_series()) return;
    lines_.push_back(fmt::format("only {} returned {}: {} points", side, name(key), points));
  }

  void both(const Key& key, const PointsByTime& opentsdb, const PointsByTime& halite) {
    std::map<std::int64_t, std::pair<std::string, std::string>> odd;
    for (const auto& [time, value] : opentsdb) {
      const auto other = halite.find(time);
      if (other == halite.end()) {
        odd[time] = {shown(value), "nothing"};
      } else if (!same_value(value, other->second, rules_.tolerance)) {
        odd[time] = {shown(value), shown(other->second)};
      }
    }
    for (const auto& [time, value] : halite) {
      if (!opentsdb.contains(time)) odd[time] = {"nothing", shown(value)};
    }
    if (odd.empty() || !begin_series()) return;
    lines_.push_back(fmt::format("{}: {} points differ (opentsdb has {}, halite {})", name(key),
                                 odd.size(), opentsdb.size(), halite.size()));
    std::size_t told = 0;
    for (const auto& [time, values] : odd) {
      if (rules_.shown_max != 0 && told++ == rules_.shown_max) {
        lines_.push_back(fmt::format("  and {} more", odd.size() - rules_.shown_max));
        break;
      }
      lines_.push_back(
          fmt::format("  {}: opentsdb {}, halite {}", time, values.first, values.second));
    }
  }

  std::vector<std::string> finish() && {
    if (rules_.shown_max != 0 && series_ > rules_.shown_max) {
      lines_.push_back(fmt::format("and {} more series", series_ - rules_.shown_max));
    }
    return std::move(lines_);
  }

 private:
  // Returns whether another series may be shown.
  bool begin_series() { return series_++ < rules_.shown_max || rules_.shown_max == 0; }

  static std::string name(const Key& key) {
    return key.second == 0 ? key.first : fmt::format("{} (no. {})", key.first, key.second + 1);
  }

  const CompareRules rules_;
  std::size_t series_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace

Result<std::vector<std::string>> differences(std::string_view opentsdb, std::string_view halite,
                                             const CompareRules& rules) {
  TRY(const Series theirs, series_of(opentsdb, "opentsdb"));
  TRY(const Series ours, series_of(halite, "halite"));
  DifferenceLines report(rules);
  for (const auto& [key, points] : theirs) {
    const auto other = ours.find(key);
    if (other == ours.end()) {
      report.only("opentsdb", key, points.size());
    } else {
      report.both(key, points, other->second);
    }
  }
  for (const auto& [key, points] : ours) {
    if (!theirs.contains(key)) report.only("halite", key, points.size());
  }
  return std::move(report).finish();
}

}  // namespace halite::app
