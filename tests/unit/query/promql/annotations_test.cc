#include "query/promql/eval/annotations.h"

#include <limits>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::query::promql {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Annotations, HaveTheirKindAndTheirPlace) {
  Annotations annotations("sum(a)\n+ b");
  EXPECT_THAT(annotations.warnings(), IsEmpty());
  EXPECT_THAT(annotations.infos(), IsEmpty());
  annotations.warn("first", {.begin = 4, .end = 5});
  annotations.inform("second", {.begin = 9, .end = 10});
  EXPECT_THAT(annotations.warnings(), ElementsAre("PromQL warning: first (1:5)"));
  EXPECT_THAT(annotations.infos(), ElementsAre("PromQL info: second (2:3)"));
}

TEST(Annotations, ShowEachTextOnceWithTheLastPlace) {
  Annotations annotations("a + b");
  annotations.warn("same", {.begin = 0, .end = 1});
  annotations.warn("same", {.begin = 4, .end = 5});
  annotations.warn("other", {.begin = 0, .end = 1});
  EXPECT_THAT(annotations.warnings(),
              ElementsAre("PromQL warning: other (1:1)", "PromQL warning: same (1:5)"));
}

TEST(Annotations, CountThoseAboveTen) {
  Annotations annotations("a");
  for (int i = 10; i < 20; ++i) annotations.warn(fmt::format("{}", i), {});
  EXPECT_THAT(annotations.warnings(), SizeIs(10));
  EXPECT_EQ(annotations.warnings().back(), "PromQL warning: 19 (1:1)");
  annotations.warn("20", {});
  annotations.warn("21", {});
  EXPECT_THAT(annotations.warnings(), SizeIs(11));
  EXPECT_EQ(annotations.warnings().back(), "2 more warning annotations omitted");
  for (int i = 0; i < 11; ++i) annotations.inform(fmt::format("{}", i), {});
  EXPECT_EQ(annotations.infos().back(), "1 more info annotations omitted");
}

TEST(Annotations, KeepNoMoreThanAThousand) {
  Annotations annotations("a");
  for (int i = 0; i < 5'000; ++i) {
    annotations.inform(fmt::format("{}", i), {});
    annotations.check_quantile(2 + i, {});
  }
  EXPECT_EQ(annotations.infos().back(), "990 more info annotations omitted");
  EXPECT_EQ(annotations.warnings().back(), "990 more warning annotations omitted");
}

TEST(Annotations, NameQuantilesThatAreNone) {
  Annotations annotations("a");
  annotations.check_quantile(0, {});
  annotations.check_quantile(1, {});
  annotations.check_quantile(0.5, {});
  EXPECT_THAT(annotations.warnings(), IsEmpty());
  annotations.check_quantile(-1e-7, {});
  annotations.check_quantile(1.5, {});
  annotations.check_quantile(std::numeric_limits<double>::quiet_NaN(), {});
  EXPECT_THAT(
      annotations.warnings(),
      ElementsAre("PromQL warning: quantile value should be between 0 and 1, got -1e-07 (1:1)",
                  "PromQL warning: quantile value should be between 0 and 1, got 1.5 (1:1)",
                  "PromQL warning: quantile value should be between 0 and 1, got NaN (1:1)"));
}

TEST(Annotations, GatherFallingBuckets) {
  Annotations annotations("histogram_quantile(0.5, a)");
  const Position at{.begin = 24, .end = 25};
  annotations.inform_of_falling({.bound_min = 1, .bound_max = 2, .difference_max = 0.25}, 60'500,
                                at);
  annotations.inform_of_falling({.bound_min = 0.5, .bound_max = 1, .difference_max = 123}, 30'000,
                                at);
  EXPECT_THAT(annotations.infos(),
              ElementsAre("PromQL info: input to histogram_quantile needed to be fixed for "
                          "monotonicity (see https://prometheus.io/docs/prometheus/latest/querying/"
                          "functions/#histogram_quantile), from buckets 0.5 to 2, with a max diff "
                          "of 1.2e+02, over 2 samples from 1970-01-01T00:00:30Z to "
                          "1970-01-01T00:01:00Z (1:25)"));
}

}  // namespace
}  // namespace halite::query::promql
