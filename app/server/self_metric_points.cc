#include "app/server/self_metric_points.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "common/bytes/ascii.h"

namespace halite::app {
namespace {

using SelfPoints = std::vector<ingest::Writer::SelfPoint>;

// Above it, a double cannot represent every integer.
constexpr double kExactIntegerMax = 9007199254740992.0;

// halite_ingest_points_total is halite.ingest.points_total: product and area end in dots.
std::string metric_name(std::string name) {
  for (int dots = 0; dots < 2; ++dots) {
    const std::size_t at = name.find('_');
    if (at == std::string::npos) break;
    name[at] = '.';
  }
  return name.starts_with("halite.") ? name : "halite." + name;
}

// Label values may contain characters that tag values may not.
std::string tag_value(std::string_view text) {
  std::string value(text.empty() ? "none" : text);
  for (char& c : value) {
    const bool legal = is_letter_or_digit(c) || c == '-' || c == '_' || c == '.' || c == '/';
    if (!legal) c = '_';
  }
  return value;
}

std::vector<Tag> tags_of(const prometheus::ClientMetric& metric, const std::string& host) {
  std::vector<Tag> tags = {{"host", tag_value(host)}};
  for (const prometheus::ClientMetric::Label& label : metric.label) {
    // The server's host replaces a label with that name.
    if (label.name != "host") tags.push_back({label.name, tag_value(label.value)});
  }
  std::ranges::sort(tags);
  return tags;
}

void add_self_point(SelfPoints& points, std::string metric, std::vector<Tag> tags, TimestampMs now,
                    double value) {
  if (!std::isfinite(value)) return;
  ingest::Writer::SelfPoint point;
  point.series = {std::move(metric), std::move(tags)};
  point.time = now;
  if (value == std::trunc(value) && std::abs(value) < kExactIntegerMax) {
    point.value = integer_bits(static_cast<std::int64_t>(value));
  } else {
    point.value = double_bits(value);
    point.flags = kFloat | kWide;
  }
  points.push_back(std::move(point));
}

}  // namespace

SelfPoints self_metric_points(const std::vector<prometheus::MetricFamily>& families,
                              const std::string& host, TimestampMs now) {
  SelfPoints points;
  for (const prometheus::MetricFamily& family : families) {
    const std::string name = metric_name(family.name);
    for (const prometheus::ClientMetric& metric : family.metric) {
      std::vector<Tag> tags = tags_of(metric, host);
      switch (family.type) {
        case prometheus::MetricType::Counter:
          add_self_point(points, name, std::move(tags), now, metric.counter.value);
          break;
        case prometheus::MetricType::Gauge:
          add_self_point(points, name, std::move(tags), now, metric.gauge.value);
          break;
        case prometheus::MetricType::Histogram:
          add_self_point(points, name + ".count", tags, now,
                         static_cast<double>(metric.histogram.sample_count));
          add_self_point(points, name + ".sum", std::move(tags), now, metric.histogram.sample_sum);
          break;
        case prometheus::MetricType::Summary:
          add_self_point(points, name + ".count", tags, now,
                         static_cast<double>(metric.summary.sample_count));
          add_self_point(points, name + ".sum", std::move(tags), now, metric.summary.sample_sum);
          break;
        case prometheus::MetricType::Untyped:
          break;
      }
    }
  }
  return points;
}

}  // namespace halite::app
