#include "query/promql/eval/range_functions.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::query::promql {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::IsNan;

constexpr double kNanSample = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfSample = std::numeric_limits<double>::infinity();

// Samples that are 30 s apart from 0; absent ones are gaps.
using Samples = std::vector<double>;

const Samples kReset = {10, 20, 30, 5, 15, 25, 35};
const Samples kEven = {0, 12, 24, 36, 48, 60, 72};
const Samples kGaps = {100, 100, kAbsent, kAbsent, 130, 130, 130};
const Samples kGauge = {3, -1, kNanSample, 4, 1.5, kInfSample, 2};

struct WindowQuestion {
  double end_s = 180;
  double range_s = 300;
  std::vector<double> parameters = {};
  double now_s = 180;
};

// The value of the function, kAbsent if the window is empty.
double evaluated(std::string_view name, const Samples& samples,
                 const WindowQuestion& question = {}) {
  const RangeFunction* const function = find_range_function(name);
  if (function == nullptr) {
    ADD_FAILURE() << name << " is no function";
    return kAbsent;
  }
  Window window;
  window.end = std::llround(question.end_s * 1000);
  window.begin = window.end - std::llround(question.range_s * 1000);
  window.now = std::llround(question.now_s * 1000);
  std::vector<TimestampMs> times;
  std::vector<double> values;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto time = static_cast<TimestampMs>(i) * 30'000;
    if (time <= window.begin || time > window.end || is_absent(samples[i])) continue;
    times.push_back(time);
    values.push_back(samples[i]);
  }
  if (times.empty()) return kAbsent;
  window.times = times.data();
  window.values = values.data();
  window.size = times.size();
  return function->evaluate(window, question.parameters);
}

MATCHER(HasNoValue, "") { return is_absent(arg); }

TEST(RangeFunctions, AreFoundByName) {
  EXPECT_EQ(find_range_function("absent_over_time"), nullptr);
  EXPECT_EQ(find_range_function("holt_winters"), nullptr);  // its old name is gone
  EXPECT_EQ(find_range_function("Rate"), nullptr);
  EXPECT_TRUE(find_range_function("rate")->wants_counter);
  EXPECT_TRUE(find_range_function("increase")->wants_counter);
  EXPECT_FALSE(find_range_function("irate")->wants_counter);
  EXPECT_TRUE(find_range_function("last_over_time")->keeps_name);
  EXPECT_TRUE(find_range_function("first_over_time")->keeps_name);
  EXPECT_FALSE(find_range_function("max_over_time")->keeps_name);
}

TEST(Rate, GoesOnToTheEndsOfTheWindow) {
  EXPECT_THAT(evaluated("rate", kReset, {.range_s = 120}), DoubleNear(0.2916667, 1e-7));
  EXPECT_EQ(evaluated("increase", kEven, {.range_s = 120}), 48);
  EXPECT_EQ(evaluated("increase", kEven, {.end_s = 45, .range_s = 60}), 18);
  EXPECT_EQ(evaluated("increase", kEven, {.end_s = 175, .range_s = 100}), 40);
  EXPECT_EQ(evaluated("increase", kGaps, {.range_s = 180}), 36);
  EXPECT_EQ(evaluated("delta", kReset, {.range_s = 120}), 40);
  EXPECT_EQ(evaluated("delta", {8, 4}, {.end_s = 45, .range_s = 60}), -8);  // no limit at 0
}

TEST(Rate, NeedsTwoSamples) {
  for (const char* name : {"rate", "increase", "delta", "irate", "idelta", "deriv"}) {
    EXPECT_THAT(evaluated(name, kEven, {.end_s = 10, .range_s = 60}), HasNoValue()) << name;
  }
  EXPECT_THAT(evaluated("predict_linear", {1}, {.parameters = {1}}), HasNoValue());
  EXPECT_THAT(evaluated("double_exponential_smoothing", {1}, {.parameters = {0.5, 0.5}}),
              HasNoValue());
}

TEST(Rate, OfTheLastTwoSamples) {
  EXPECT_THAT(evaluated("irate", kReset, {.end_s = 100, .range_s = 60}),
              DoubleNear(0.1666667, 1e-7));
  EXPECT_THAT(evaluated("irate", kReset, {.end_s = 100, .range_s = 30}), HasNoValue());
  EXPECT_EQ(evaluated("irate", kEven), 0.4);
  EXPECT_EQ(evaluated("idelta", kGauge, {.range_s = 60}), -kInfSample);
  EXPECT_EQ(evaluated("idelta", kReset, {.end_s = 90, .range_s = 60}), -25);
}

TEST(Resets, AreCounted) {
  EXPECT_EQ(evaluated("resets", kReset), 1);
  EXPECT_EQ(evaluated("resets", kEven), 0);
  EXPECT_EQ(evaluated("resets", {5}), 0);
  EXPECT_EQ(evaluated("resets", kGauge), 3);
}

TEST(Changes, AreCounted) {
  EXPECT_EQ(evaluated("changes", kGauge), 6);
  EXPECT_EQ(evaluated("changes", {7, 7, 7, 8, 8, 7}), 2);
  EXPECT_EQ(evaluated("changes", {kNanSample, kNanSample, 1}), 1);
  EXPECT_EQ(evaluated("changes", {1}), 0);
}

TEST(Regression, FindsSlopeAndValue) {
  EXPECT_EQ(evaluated("deriv", kEven, {.range_s = 120}), 0.4);
  EXPECT_THAT(evaluated("predict_linear", kEven,
                        {.end_s = 90, .range_s = 120, .parameters = {0}, .now_s = 120}),
              DoubleNear(48, 1e-12));
  EXPECT_THAT(evaluated("predict_linear", kEven, {.parameters = {60}}), DoubleNear(96, 1e-12));
  EXPECT_EQ(evaluated("deriv", {3, 3, 3}), 0);
  EXPECT_EQ(evaluated("predict_linear", {3, 3, 3}, {.parameters = {1e9}}), 3);
  EXPECT_THAT(evaluated("deriv", {kInfSample, kInfSample}), IsNan());
  EXPECT_THAT(evaluated("deriv", {kNanSample, kNanSample}), IsNan());
}

TEST(OverTime, SumsAndMeans) {
  EXPECT_EQ(evaluated("sum_over_time", kReset, {.range_s = 60}), 60);
  EXPECT_EQ(evaluated("sum_over_time", kEven, {.range_s = 60}), 132);
  EXPECT_EQ(evaluated("sum_over_time", {1, 1e100, 1, -1e100}), 2);
  EXPECT_EQ(evaluated("sum_over_time", {kInfSample, 1}), kInfSample);
  EXPECT_THAT(evaluated("sum_over_time", {kInfSample, -kInfSample}), IsNan());
  EXPECT_THAT(evaluated("avg_over_time", {7, 7, 7, 8, 8, 7}), DoubleNear(7.333333, 1e-6));
  EXPECT_THAT(evaluated("avg_over_time", {1e308, 1e308, 1e308}), DoubleEq(1e308));
  EXPECT_EQ(evaluated("avg_over_time", {1, kInfSample}), kInfSample);
  EXPECT_EQ(evaluated("count_over_time", kGauge), 7);
  EXPECT_EQ(evaluated("present_over_time", kGauge), 1);
}

TEST(OverTime, Extremes) {
  EXPECT_EQ(evaluated("min_over_time", kGauge), -1);
  EXPECT_EQ(evaluated("max_over_time", kGauge), kInfSample);
  EXPECT_EQ(evaluated("max_over_time", {kNanSample, 1, kNanSample}), 1);
  EXPECT_THAT(evaluated("min_over_time", {kNanSample, kNanSample}), IsNan());
  EXPECT_EQ(evaluated("first_over_time", kReset), 10);
  EXPECT_EQ(evaluated("last_over_time", kReset), 35);
  EXPECT_THAT(evaluated("last_over_time", kReset, {.end_s = 181, .range_s = 1}), HasNoValue());
}

TEST(OverTime, TimesOfExtremes) {
  EXPECT_EQ(evaluated("ts_of_first_over_time", kReset, {.range_s = 60}), 150);
  EXPECT_EQ(evaluated("ts_of_last_over_time", kReset), 180);
  EXPECT_EQ(evaluated("ts_of_min_over_time", {2, 1, 1, 2}), 60);
  EXPECT_EQ(evaluated("ts_of_max_over_time", {2, 1, 1, 2}), 90);
  EXPECT_EQ(evaluated("ts_of_max_over_time", {kNanSample, 1, kNanSample}), 30);
  EXPECT_EQ(evaluated("ts_of_min_over_time", {kNanSample, kNanSample}), 30);
}

TEST(OverTime, Spread) {
  EXPECT_THAT(evaluated("stddev_over_time", kEven, {.range_s = 120}), DoubleNear(13.41641, 1e-5));
  EXPECT_EQ(evaluated("stdvar_over_time", kEven, {.range_s = 120}), 180);
  EXPECT_EQ(evaluated("stdvar_over_time", {5}), 0);
  EXPECT_THAT(evaluated("stdvar_over_time", {kInfSample}), IsNan());
  EXPECT_THAT(evaluated("quantile_over_time", kEven, {.range_s = 120, .parameters = {0.3}}),
              DoubleNear(46.8, 1e-12));
  EXPECT_EQ(evaluated("quantile_over_time", kReset, {.parameters = {0}}), 5);
  EXPECT_EQ(evaluated("quantile_over_time", kReset, {.parameters = {1.1}}), kInfSample);
  EXPECT_EQ(evaluated("mad_over_time", {4, 6, 2, 1, 999, 1, 2}), 1);
  EXPECT_THAT(evaluated("mad_over_time", {4, kNanSample}), IsNan());
}

TEST(Smoothing, FollowsTheTrend) {
  EXPECT_EQ(evaluated("double_exponential_smoothing", kEven, {.parameters = {0.5, 0.5}}), 72);
  // 10, 20 | 20 + trend 10 = 30 | sum of 0.5 * 5 and 0.5 * 40 | ...
  EXPECT_EQ(evaluated("double_exponential_smoothing", {10, 20, 30, 5}, {.parameters = {0.5, 0.5}}),
            22.5);
}

TEST(Smoothing, ChecksItsFactors) {
  const auto message = [](double factor, double trend_factor) {
    const std::vector<double> parameters = {factor, trend_factor};
    const auto valid = find_range_function("double_exponential_smoothing")->check(parameters);
    return valid ? std::string() : valid.error().message;
  };
  EXPECT_EQ(message(0.5, 0.5), "");
  EXPECT_EQ(message(1, 2), "invalid smoothing factor. Expected: 0 < sf < 1, got: 1.000000");
  EXPECT_EQ(message(0.5, 0), "invalid trend factor. Expected: 0 < tf < 1, got: 0.000000");
  EXPECT_EQ(message(kInfSample, 0.5), "invalid smoothing factor. Expected: 0 < sf < 1, got: +Inf");
  EXPECT_EQ(message(kNanSample, 0.5), "");
}

}  // namespace
}  // namespace halite::query::promql
