#include "query/promql/eval/histogram_functions.h"

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::query::promql {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;
using ::testing::SizeIs;

constexpr double kEndless = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr Position kQuantileAt = {.begin = 19, .end = 22};
constexpr Position kBucketsAt = {.begin = 24, .end = 32};

using BucketCounts = std::vector<std::pair<std::string_view, double>>;  // of le and the count

Vector histogram_of(const BucketCounts& counts) {
  Vector vector;
  for (const auto& [bound, count] : counts) {
    vector.rows.push_back({.labels = {{"__name__", "h"}, {"le", bound}}, .values = {count}});
  }
  return vector;
}

struct HistogramAnswer {
  std::vector<Row> rows;
  std::vector<std::string> warnings;
  std::vector<std::string> infos;
};

HistogramAnswer asked_quantile(const Vector& buckets, const std::vector<double>& quantiles) {
  Annotations annotations("histogram_quantile(0.5, h_bucket)");
  const Steps steps{.begin = 180'000, .step_ms = 60'000, .count = quantiles.size()};
  Vector result =
      histogram_quantile(buckets, quantiles, steps, kQuantileAt, kBucketsAt, annotations);
  return {.rows = std::move(result.rows),
          .warnings = annotations.warnings(),
          .infos = annotations.infos()};
}

// That of the only histogram; kAbsent if there is none.
double quantile_of_counts(double quantile, const BucketCounts& counts) {
  const HistogramAnswer answer = asked_quantile(histogram_of(counts), {quantile});
  return answer.rows.size() == 1 ? answer.rows.front().values.front() : kAbsent;
}

double fraction_of_counts(double lower, double upper, const BucketCounts& counts) {
  Annotations annotations("histogram_fraction(0, 0.3, h)");
  const std::vector<double> from = {lower};
  const std::vector<double> to = {upper};
  const Vector result =
      histogram_fraction(histogram_of(counts), from, to, {}, kBucketsAt, annotations);
  return result.rows.size() == 1 ? result.rows.front().values.front() : kAbsent;
}

const BucketCounts kCounts = {{"0.1", 6}, {"0.5", 18}, {"1", 17.4}, {"+Inf", 24}};

TEST(HistogramQuantile, InterpolatesInABucket) {
  EXPECT_THAT(quantile_of_counts(0.5, kCounts), DoubleEq(0.3));
  EXPECT_EQ(quantile_of_counts(0.9, kCounts), 1);
  EXPECT_THAT(quantile_of_counts(0.05, kCounts), DoubleEq(0.02));
  EXPECT_EQ(quantile_of_counts(0, kCounts), 0);
  EXPECT_EQ(quantile_of_counts(1, kCounts), 1);
}

TEST(HistogramQuantile, TakesBoundsInAnyOrderAndTwice) {
  const BucketCounts mixed = {{"+Inf", 14}, {"1", 17.4}, {"0.10", 2},
                              {"5e-1", 18}, {"inf", 10}, {".1", 4}};
  EXPECT_THAT(quantile_of_counts(0.5, mixed), DoubleEq(0.3));
}

TEST(HistogramQuantile, BeginsAtZeroOnlyIfBoundsArePositive) {
  EXPECT_EQ(quantile_of_counts(0.25, {{"2", 2}, {"+Inf", 4}}), 1);
  EXPECT_EQ(quantile_of_counts(0.25, {{"-2", 2}, {"+Inf", 4}}), -2);
  EXPECT_EQ(quantile_of_counts(0.25, {{"0", 2}, {"+Inf", 4}}), 0);
  EXPECT_EQ(quantile_of_counts(0.75, {{"-2", 0}, {"2", 4}, {"+Inf", 4}}), 1);
}

TEST(HistogramQuantile, IsUndefinedWithoutTheBucketsItNeeds) {
  EXPECT_THAT(quantile_of_counts(0.5, {{"1", 4}, {"2", 4}}), IsNan());
  EXPECT_THAT(quantile_of_counts(0.5, {{"+Inf", 4}}), IsNan());
  EXPECT_THAT(quantile_of_counts(0.5, {{"1", 0}, {"+Inf", 0}}), IsNan());
  EXPECT_TRUE(is_absent(quantile_of_counts(0.5, {})));
}

TEST(HistogramQuantile, WarnsOfQuantilesOutOfRange) {
  const HistogramAnswer answer =
      asked_quantile({.rows = {{.labels = {{"le", "1"}}, .values = {1, 1, 1}},
                               {.labels = {{"le", "+Inf"}}, .values = {1, 1, 1}}}},
                     {-1, kNotANumber, 1.5});
  EXPECT_THAT(answer.rows.front().values, ElementsAre(-kEndless, IsNan(), kEndless));
  EXPECT_THAT(answer.warnings, SizeIs(3));
  EXPECT_EQ(answer.warnings.front(),
            "PromQL warning: quantile value should be between 0 and 1, got -1 (1:20)");
  EXPECT_THAT(asked_quantile({}, {2}).warnings, SizeIs(1));
}

TEST(HistogramQuantile, GroupsByAllOtherLabels) {
  const auto row = [](std::string_view name, std::string_view bound, std::vector<double> values) {
    return Row{.labels = {{"__name__", name}, {"a", "1"}, {"le", bound}},
               .values = std::move(values)};
  };
  const HistogramAnswer answer =
      asked_quantile({.rows = {row("h", "+Inf", {4, kAbsent}), row("h", "2", {4, kAbsent}),
                               row("k", "4", {kAbsent, 2}), row("k", "+Inf", {kAbsent, 2}),
                               row("none", "1", {kAbsent, kAbsent})}},
                     {0.5, 0.5});
  ASSERT_THAT(answer.rows, SizeIs(2));
  EXPECT_EQ(answer.rows[0].labels.text(), R"({a="1"})");
  EXPECT_EQ(answer.rows[1].labels.text(), R"({a="1"})");
  EXPECT_EQ(answer.rows[0].values[0], 1);
  EXPECT_TRUE(is_absent(answer.rows[0].values[1]));
  EXPECT_TRUE(is_absent(answer.rows[1].values[0]));
  EXPECT_EQ(answer.rows[1].values[1], 2);
}

TEST(HistogramQuantile, RepairsCountsThatFall) {
  const HistogramAnswer answer = asked_quantile(histogram_of(kCounts), {0.5});
  ASSERT_THAT(answer.infos, SizeIs(1));
  EXPECT_THAT(answer.infos.front(),
              HasSubstr("from buckets 1 to 1, with a max diff of 0.6, over 1 samples from "
                        "1970-01-01T00:03:00Z to 1970-01-01T00:03:00Z (1:25)"));
  // Not in silence only if the difference is more than rounding makes.
  const BucketCounts rounded = {{"1", 1e12}, {"2", 1e12 - 0.5}, {"+Inf", 1e12}};
  EXPECT_THAT(asked_quantile(histogram_of(rounded), {0.5}).infos, IsEmpty());
  EXPECT_EQ(quantile_of_counts(1, rounded), 1);
}

TEST(HistogramQuantile, WarnsOfBoundsThatAreNone) {
  for (const std::string_view text : {"", "x", "1x", " 1", "+-1", "++1", "NaN"}) {
    const Vector vector = histogram_of({{text, 1}, {"1", 1}, {"+Inf", 2}});
    const HistogramAnswer answer = asked_quantile(vector, {0.25});
    ASSERT_THAT(answer.rows, SizeIs(1)) << text;
    EXPECT_EQ(answer.rows.front().values.front(), 0.5) << text;
    EXPECT_THAT(answer.warnings,
                ElementsAre("PromQL warning: bucket label \"le\" is missing or has a malformed "
                            "value of \"" +
                            std::string(text) + "\" (1:25)"));
  }
}

TEST(HistogramQuantiles, HaveALabelEach) {
  Annotations annotations("histogram_quantiles(h, \"q\", 0.5, 1)");
  TextArena texts;
  const std::vector<double> half = {0.5, 0.5};
  const std::vector<double> changing = {1, 1e-5};
  const std::vector<QuantileArgument> quantiles = {{.values = half, .at = kQuantileAt},
                                                   {.values = changing, .at = kQuantileAt}};
  const Vector buckets = {.rows = {{.labels = {{"le", "2"}}, .values = {4, 4}},
                                   {.labels = {{"le", "+Inf"}}, .values = {4, 4}}}};
  const Steps steps{.begin = 0, .step_ms = 1, .count = 2};
  const auto result =
      histogram_quantiles(buckets, "q", quantiles, steps, kBucketsAt, 6, texts, annotations);
  ASSERT_TRUE(result);
  ASSERT_THAT(result->rows, SizeIs(3));
  EXPECT_EQ(result->rows[0].labels.text(), R"({q="0.5"})");
  EXPECT_THAT(result->rows[0].values, ElementsAre(1, 1));
  EXPECT_EQ(result->rows[1].labels.text(), R"({q="1.0"})");
  EXPECT_EQ(result->rows[1].values[0], 2);
  EXPECT_TRUE(is_absent(result->rows[1].values[1]));
  EXPECT_EQ(result->rows[2].labels.text(), R"({q="1e-05"})");
  EXPECT_TRUE(is_absent(result->rows[2].values[0]));
  EXPECT_THAT(result->rows[2].values[1], DoubleEq(2e-5));
  const auto refused =
      histogram_quantiles(buckets, "q", quantiles, steps, kBucketsAt, 5, texts, annotations);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kTooLarge);
}

TEST(HistogramFraction, InterpolatesBothLimits) {
  EXPECT_THAT(fraction_of_counts(0, 0.3, kCounts), DoubleEq(0.5));
  EXPECT_EQ(fraction_of_counts(-kEndless, kEndless, kCounts), 1);
  EXPECT_EQ(fraction_of_counts(0, kEndless, kCounts), 1);
  EXPECT_THAT(fraction_of_counts(0.1, 0.5, kCounts), DoubleEq(0.5));
  EXPECT_THAT(fraction_of_counts(0.05, 0.1, kCounts), DoubleNear(0.125, 1e-15));
  EXPECT_EQ(fraction_of_counts(0.3, 0.3, kCounts), 0);
  EXPECT_EQ(fraction_of_counts(0.5, 0.3, kCounts), 0);
}

TEST(HistogramFraction, CountsNothingInsideEndlessBuckets) {
  const BucketCounts counts = {{"-1", 2}, {"1", 4}, {"+Inf", 8}};
  EXPECT_EQ(fraction_of_counts(-5, -1, counts), 0);
  EXPECT_EQ(fraction_of_counts(-kEndless, -1, counts), 0.25);
  EXPECT_EQ(fraction_of_counts(-1, 0, counts), 0.125);
  EXPECT_EQ(fraction_of_counts(1, 100, counts), 0);
  EXPECT_EQ(fraction_of_counts(1, kEndless, counts), 0.5);
}

TEST(HistogramFraction, IsUndefinedWithoutValues) {
  EXPECT_THAT(fraction_of_counts(kNotANumber, 1, kCounts), IsNan());
  EXPECT_THAT(fraction_of_counts(0, kNotANumber, kCounts), IsNan());
  EXPECT_THAT(fraction_of_counts(0, 1, {{"1", 0}, {"+Inf", 0}}), IsNan());
  EXPECT_THAT(fraction_of_counts(0, 1, {{"1", 4}}), IsNan());
  EXPECT_TRUE(is_absent(fraction_of_counts(0, 1, {})));
}

}  // namespace
}  // namespace halite::query::promql
