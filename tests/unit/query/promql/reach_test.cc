#include "query/promql/reach.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/promql/parse.h"

namespace halite::query::promql {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kLookbackMs = 300'000;
constexpr std::int64_t kMinuteMs = 60'000;

std::optional<Reach> reach(std::string_view text) {
  Result<ExprPtr> expr = parse(text, {.experimental = true});
  EXPECT_TRUE(expr) << (expr ? "" : expr.error().message);
  if (!expr) return std::nullopt;
  const Result<void> resolved = resolve_durations(**expr, kMinuteMs, 10 * kMinuteMs);
  EXPECT_TRUE(resolved);
  return reach_of(**expr, kLookbackMs);
}

std::int64_t back_of(std::string_view text) {
  const std::optional<Reach> found = reach(text);
  return found ? found->back_ms : -1;
}

TEST(ReachTest, OfSelectorsAndRanges) {
  EXPECT_EQ(back_of("m"), kLookbackMs);
  EXPECT_EQ(back_of("rate(m[2m])"), 2 * kMinuteMs);
  EXPECT_EQ(back_of("m offset 10m"), kLookbackMs + 10 * kMinuteMs);
  EXPECT_EQ(back_of("rate(m[2m] offset 10m)"), 12 * kMinuteMs);
  EXPECT_EQ(back_of("vector(time())"), 0);
  EXPECT_EQ(back_of("delta(m[2m] anchored)"), 2 * kMinuteMs + kLookbackMs);
}

TEST(ReachTest, TheFarthestPartCounts) {
  EXPECT_EQ(back_of("m + rate(n[20m]) / -(n offset 1m)"), 20 * kMinuteMs);
  EXPECT_EQ(back_of("sum by (a) (quantile(scalar(k offset 1h), m))"), kLookbackMs + 60 * kMinuteMs);
  EXPECT_EQ(back_of("clamp_max(m, scalar(rate(n[7m])))"), 7 * kMinuteMs);
}

TEST(ReachTest, SubqueriesAreFartherThanTheirParts) {
  EXPECT_EQ(back_of("max_over_time(rate(m[5m])[1h:1m])"), 65 * kMinuteMs);
  EXPECT_EQ(back_of("max_over_time(rate(m[5m] offset 1m)[1h:1m] offset 1d)"),
            (65 + 1 + 24 * 60) * kMinuteMs);
  EXPECT_EQ(back_of("max_over_time(min_over_time(m[10m:1m])[1h:1m])"),
            kLookbackMs + 70 * kMinuteMs);
}

TEST(ReachTest, NoneIfOtherTimesMatter) {
  for (const char* const text :
       {"m @ 1000", "m @ start()", "rate(m[5m] @ end())", "m offset -1m", "sum(rate(m[5m:1m] @ 7))",
        "max_over_time(m[5m:1m] offset -1s)", "rate(m[range()])", "rate(m[5m] smoothed)", "info(m)",
        "m + on (a) (n @ end())", "topk(scalar(m), n)", "m - start()", "m * (time() > bool end())",
        "m / range()", "rate(m[step()])"}) {
    EXPECT_FALSE(reach(text)) << text;
  }
}

TEST(ReachTest, NoneIfSeriesOfDifferentTimesMayCollide) {
  for (const char* const text :
       {"rate({__name__=~\"m|n\"}[5m])", "rate({a=\"b\"}[5m])", "rate((m or n)[5m:1m])",
        "rate({a=\"b\"}[5m:1m])", "rate((rate(m[1m]) or m)[5m:1m])",
        "rate((m * on (a) group_left (b) m)[5m:1m])", "rate(count_values(\"__name__\", m)[5m:1m])",
        "rate(label_replace(m, \"__name__\", \"$1\", \"a\", \"(.*)\")[5m:1m])"}) {
    EXPECT_FALSE(reach(text)) << text;
  }
  EXPECT_TRUE(reach("{a=\"b\"}"));
  EXPECT_TRUE(reach("sum_over_time((m / m offset 1m)[5m:1m])"));
  EXPECT_TRUE(reach("count_values(\"a\", rate(m[5m]))"));
}

TEST(ReachTest, Metrics) {
  const std::optional<Reach> two = reach("m{a=\"b\"} + {__name__=\"n\"} * m");
  EXPECT_THAT(two->metrics, ElementsAre("m", "n"));
  EXPECT_FALSE(two->any_metric);
  const std::optional<Reach> any = reach("m + {__name__=~\"n.*\"}");
  EXPECT_THAT(any->metrics, ElementsAre("m"));
  EXPECT_TRUE(any->any_metric);
}

}  // namespace
}  // namespace halite::query::promql
