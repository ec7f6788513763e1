// Downsampling, filling and rates, one operator at a time. Whole questions: tests/text/query; all
// of it against a plain reference: property_test.cc.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/java/java_double.h"
#include "query/operators/downsample.h"
#include "query/operators/fill.h"
#include "query/operators/pipeline.h"
#include "query/operators/rate.h"
#include "query/parse/downsample_spec.h"
#include "query/plan/plan.h"
#include "tests/unit/query/times.h"

namespace halite::query {
namespace {

constexpr std::int64_t kHour = 3'600'000;

// "0=1.0 60=2" with seconds after kT.
std::string text(const PointColumns& points) {
  std::string all;
  for (std::size_t i = 0; i < points.size(); ++i) {
    all += fmt::format("{}{}={}", i == 0 ? "" : " ", (points.times[i] - kT) / 1000,
                       points.floats[i] != 0 ? java_double(as_double(points.values[i]))
                                             : std::to_string(as_integer(points.values[i])));
  }
  return all;
}

SubPlan plan_of(const std::string& downsample, TimestampMs begin = kT,
                TimestampMs end = kT + 600'000) {
  Question question;
  question.begin = begin;
  question.end = end + 1;
  SubQuestion sub;
  sub.aggregator = "sum";
  if (!downsample.empty()) sub.downsample = *parse_downsample(downsample);
  return *make_plan(question, sub, 1'000'000);
}

// Seconds after kT, each with its value.
using Numbers = std::vector<std::pair<int, double>>;

void add(Downsampler& downsampler, const Numbers& numbers, PointColumns& out) {
  std::vector<TimestampMs> times;
  std::vector<double> values;
  for (const auto& [second, value] : numbers) {
    times.push_back(kT + second * 1000);
    values.push_back(value);
  }
  downsampler.add({.times = times, .numbers = values}, out);
}

storage::Block block(const std::vector<std::pair<int, std::int64_t>>& points) {
  storage::Block made;
  for (const auto& [second, value] : points) {
    made.times.push_back(kT + second * 1000);
    made.values.push_back(integer_bits(value));
  }
  return made;
}

TEST(Downsampler, ABucketRunsOverBlocks) {
  const SubPlan plan = plan_of("1m-sum");
  Downsampler downsampler(*plan.downsample);
  PointColumns out;
  add(downsampler, {{0, 1}, {10, 2}}, out);
  EXPECT_EQ(text(out), "");
  add(downsampler, {{59, 3}, {60, 4}}, out);
  EXPECT_EQ(text(out), "0=6.0");
  add(downsampler, {{119, 5}, {300, 7}}, out);
  EXPECT_EQ(text(out), "0=6.0 60=9.0");
  downsampler.finish(out);
  EXPECT_EQ(text(out), "0=6.0 60=9.0 300=7.0");
}

TEST(Downsampler, AWatermarkClosesOnlyWhatEndsByThen) {
  const SubPlan plan = plan_of("1m-sum");
  Downsampler downsampler(*plan.downsample);
  PointColumns out;
  add(downsampler, {{10, 2}}, out);
  EXPECT_EQ(downsampler.final_until(kT + 30'000), kT);
  downsampler.close_until(kT + 59'999, out);
  EXPECT_EQ(text(out), "");
  downsampler.close_until(kT + 60'000, out);
  EXPECT_EQ(text(out), "0=2.0");
  EXPECT_EQ(downsampler.final_until(kT + 90'000), kT + 60'000);
}

TEST(Downsampler, AllIsOneBucketOfTheRangeAskedWithoutItsEnd) {
  const SubPlan plan = plan_of("0all-count", kT + 5'000, kT + 60'000);
  Downsampler downsampler(*plan.downsample);
  PointColumns out;
  add(downsampler, {{0, 1}, {5, 1}, {59, 1}, {60, 1}, {61, 1}}, out);
  downsampler.close_until(kT + 2 * kHour, out);
  EXPECT_EQ(text(out), "");
  downsampler.finish(out);
  EXPECT_EQ(text(out), "5=2.0");
}

TEST(FillOperator, FillsUpToAWatermarkAndThenOn) {
  const SubPlan plan = plan_of("10m-sum-zero", kT, kT + 1'800'000);
  FillOperator filler(*plan.downsample);
  PointColumns buckets;
  PointColumns out;
  buckets.push(kT + 1'200'000, 5.0);
  filler.add(buckets, out);
  EXPECT_EQ(text(out), "0=0.0 600=0.0 1200=5.0");
  out.clear();
  filler.fill_until(kT + 2'400'000, out);
  EXPECT_EQ(text(out), "1800=0.0");
  out.clear();
  filler.finish(out);
  EXPECT_EQ(text(out), "2400=0.0 3000=0.0");
  EXPECT_FALSE(filler.failed());
}

TEST(FillOperator, NanAndNullAreNanAndScalarFails) {
  for (const char* policy : {"10m-sum-nan", "10m-sum-null", "10m-sum-scalar"}) {
    const SubPlan plan = plan_of(policy);
    FillOperator filler(*plan.downsample);
    PointColumns out;
    filler.fill_until(kT + 600'000, out);
    EXPECT_EQ(text(out), "0=NaN");
    EXPECT_EQ(filler.failed(), std::string(policy) == "10m-sum-scalar");
  }
}

TEST(RateOperator, GoesOnOverPieces) {
  RateOperator rater({});
  PointColumns points;
  PointColumns out;
  points.push(kT, integer_bits(100), false);
  rater.add(points, out);
  ASSERT_EQ(out.size(), 1);  // against 0 at the time 0
  EXPECT_EQ(as_double(out.values[0]), 100 / 1'356'998'400.0);
  out.clear();
  points.clear();
  points.push(kT + 60'000, integer_bits(160), false);
  points.push(kT + 120'000, 130.0);
  rater.add(points, out);
  EXPECT_EQ(text(out), "60=1.0 120=-0.5");
}

TEST(RateOperator, CountersRollOverResetAndDrop) {
  const auto rates = [](const RateSpec& spec) {
    RateOperator rater(spec);
    PointColumns points;
    for (const auto& [second, value] : {std::pair{0, 100}, {60, 160}, {120, 130}, {180, 190}}) {
      points.push(kT + second * 1000, integer_bits(value), false);
    }
    PointColumns out;
    rater.add(points, out);
    out.drop_front(1);
    return text(out);
  };
  EXPECT_EQ(rates({.counter = true, .counter_max = 200}), "60=1.0 120=2.8333333333333335 180=1.0");
  EXPECT_EQ(rates({.counter = true, .counter_max = 200, .reset_value = 2}),
            "60=1.0 120=0.0 180=1.0");
  EXPECT_EQ(rates({.counter = true, .drop_resets = true}), "60=1.0 180=1.0");
  EXPECT_EQ(rates({.counter = false, .counter_max = 200, .drop_resets = true}),
            "60=1.0 120=-0.5 180=1.0");
}

TEST(Pipeline, WithoutOperatorsPointsPassAsTheyAre) {
  const SubPlan plan = plan_of("");
  Pipeline pipeline(plan);
  PipelineScratch scratch;
  PointColumns out;
  pipeline.add(block({{0, 1}, {60, 2}}), scratch, out);
  pipeline.advance(kT + kHour, scratch, out);
  pipeline.finish(scratch, out);
  EXPECT_EQ(text(out), "0=1 60=2");
}

TEST(Pipeline, StalenessMarkersAreNoPoints) {
  storage::Block marked = block({{0, 1}, {30, 2}, {60, 3}});
  marked.values[1] = kStaleMarker;
  storage::Block only = block({{90, 0}});
  only.values[0] = kStaleMarker;
  for (const bool doubles : {true, false}) {  // an integer may have the same bits
    marked.floats[1] = only.floats[0] = doubles;
    for (const auto& [downsample, expected] :
         {std::pair("", "0=1 60=3"), std::pair("1m-count", "0=1.0 60=1.0")}) {
      const SubPlan plan = plan_of(downsample);
      Pipeline pipeline(plan);
      PipelineScratch scratch;
      PointColumns out;
      pipeline.add(marked, scratch, out);
      pipeline.add(only, scratch, out);
      pipeline.finish(scratch, out);
      if (doubles) {
        EXPECT_EQ(text(out), expected);
      } else {
        EXPECT_NE(text(out), expected);
      }
    }
  }
}

TEST(Pipeline, ACopyGoesOnByItself) {
  const SubPlan plan = plan_of("1m-sum-zero");
  Pipeline pipeline(plan);
  PipelineScratch scratch;
  PointColumns out;
  pipeline.add(block({{0, 1}}), scratch, out);
  Pipeline copy = pipeline;
  PointColumns other;
  copy.add(block({{30, 5}, {60, 0}}), scratch, other);
  EXPECT_EQ(text(other), "0=6.0");
  pipeline.add(block({{60, 0}}), scratch, out);
  EXPECT_EQ(text(out), "0=1.0");
}

TEST(Pipeline, NothingComesBeforeTheScanRange) {
  // 95 s does not divide an hour: the first filled bucket begins before the range that is read.
  const SubPlan plan = plan_of("95s-sum-zero", kT + kHour, kT + kHour + 60'000);
  ASSERT_LT(plan.downsample->filled.begin, plan.scan.begin);
  Pipeline pipeline(plan);
  PipelineScratch scratch;
  PointColumns out;
  pipeline.finish(scratch, out);
  ASSERT_FALSE(out.empty());
  EXPECT_GE(out.times.front(), plan.scan.begin);
  EXPECT_LT(out.times.front(), plan.scan.begin + 95'000);
}

TEST(Plan, ReadsWholeHoursAroundWhatIsAsked) {
  const auto scan = [](const std::string& downsample, TimestampMs begin, TimestampMs end) {
    const SubPlan plan = plan_of(downsample, begin, end);
    return std::pair((plan.scan.begin - kT) / 1000, (plan.scan.end - kT) / 1000);
  };
  EXPECT_EQ(scan("", kT, kT + 600'000), std::pair(0L, 3600L));
  EXPECT_EQ(scan("", kT + 60'000, kT + 3'599'000), std::pair(0L, 7200L));
  EXPECT_EQ(scan("1m-sum", kT + 60'000, kT + 3'599'000), std::pair(0L, 7200L));
  EXPECT_EQ(scan("1m-sum", kT + 60'000, kT + 3'500'000), std::pair(0L, 3600L));
  EXPECT_EQ(scan("7m-sum", kT, kT + 600'000), std::pair(-3600L, 3600L));
  EXPECT_EQ(scan("0all-sum", kT, kT + 600'000), std::pair(0L, 3600L));
}

TEST(Plan, IntervalsLongerThanTimeItself) {
  const SubPlan plan = plan_of("292471208y-sum");
  EXPECT_EQ(plan.scan.begin, 0);
  EXPECT_GT(plan.scan.end, kT);
  EXPECT_GT(plan.downsample->bucket_end(0), kT);
}

}  // namespace
}  // namespace halite::query
