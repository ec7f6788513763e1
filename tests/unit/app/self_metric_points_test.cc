#include "app/server/self_metric_points.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "app/server/process_metrics.h"

namespace halite::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr TimestampMs kCollectedAt = 1'356'998'400'000;

// "metric{key=value,...} = number", in text order.
std::vector<std::string> texts(const prometheus::Registry& registry, const std::string& host) {
  std::vector<std::string> lines;
  for (const ingest::Writer::SelfPoint& point :
       self_metric_points(registry.Collect(), host, kCollectedAt)) {
    EXPECT_EQ(point.time, kCollectedAt);
    std::string tags;
    for (const Tag& tag : point.series.tags) {
      tags += fmt::format("{}{}={}", tags.empty() ? "" : ",", tag.key, tag.value);
    }
    const bool is_float = (point.flags & kFloat) != 0;
    const std::string value = is_float ? fmt::format("{}", as_double(point.value))
                                       : fmt::format("{}i", as_integer(point.value));
    lines.push_back(fmt::format("{}{{{}}} = {}", point.series.metric, tags, value));
  }
  std::ranges::sort(lines);
  return lines;
}

TEST(OwnPoints, CountersGaugesAndHistograms) {
  prometheus::Registry registry;
  auto& points = prometheus::BuildCounter().Name("halite_ingest_points_total").Register(registry);
  points.Add({{"protocol", "telnet"}}).Increment(3);
  points.Add({{"protocol", "http"}}).Increment(1e15);
  prometheus::BuildGauge()
      .Name("halite_process_cpu_seconds_total")
      .Register(registry)
      .Add({})
      .Set(1.25);
  auto& waits = prometheus::BuildHistogram().Name("halite_query_wait_seconds").Register(registry);
  auto& wait = waits.Add({}, prometheus::Histogram::BucketBoundaries{1, 2});
  wait.Observe(0.5);
  wait.Observe(5);
  EXPECT_THAT(
      texts(registry, "web01"),
      ElementsAre("halite.ingest.points_total{host=web01,protocol=http} = 1000000000000000i",
                  "halite.ingest.points_total{host=web01,protocol=telnet} = 3i",
                  "halite.process.cpu_seconds_total{host=web01} = 1.25",
                  "halite.query.wait_seconds.count{host=web01} = 2i",
                  "halite.query.wait_seconds.sum{host=web01} = 5.5"));
}

TEST(OwnPoints, NamesAndNumbersAreLegal) {
  prometheus::Registry registry;
  auto& gauges = prometheus::BuildGauge().Name("other").Register(registry);
  gauges.Add({{"path", "a b|c"}, {"host", "liar"}, {"empty", ""}}).Set(-2);
  EXPECT_THAT(texts(registry, "h st"),
              ElementsAre("halite.other{empty=none,host=h_st,path=a_b_c} = -2i"));
}

TEST(OwnPoints, NoNumberNoPoint) {
  prometheus::Registry registry;
  auto& gauges = prometheus::BuildGauge().Name("halite_a_b").Register(registry);
  gauges.Add({{"n", "1"}}).Set(std::numeric_limits<double>::quiet_NaN());
  gauges.Add({{"n", "2"}}).Set(std::numeric_limits<double>::infinity());
  EXPECT_THAT(texts(registry, "h"), IsEmpty());
}

TEST(ProcessMetrics, SaysWhatTheSystemSays) {
  prometheus::Registry registry;
  const FakeClock clock(1'356'998'400'500);
  const ProcessMetrics process(registry, clock, 12'345);
  std::map<std::string, double> values;
  for (const prometheus::MetricFamily& family : registry.Collect()) {
    const prometheus::ClientMetric& metric = family.metric.at(0);
    const bool counter = family.name.ends_with("_total");
    EXPECT_EQ(family.type == prometheus::MetricType::Counter, counter) << family.name;
    values[family.name] = counter ? metric.counter.value : metric.gauge.value;
  }
  EXPECT_GT(values["halite_process_resident_bytes"], 1e6);
  EXPECT_EQ(values["halite_memory_limit_bytes"], 12'345);
  EXPECT_GE(values["halite_process_open_files"], 3);
  EXPECT_LE(values["halite_process_open_files"], values["halite_process_open_files_limit"]);
  EXPECT_GE(values["halite_process_threads"], 1);
  EXPECT_EQ(values["halite_process_time_seconds"], 1'356'998'400.5);
  EXPECT_GE(values["halite_process_uptime_seconds"], 0);
  EXPECT_GT(values["halite_process_cpu_seconds_total"], 0);
}

}  // namespace
}  // namespace halite::app
