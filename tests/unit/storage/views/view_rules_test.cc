#include "storage/views/view_rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/units.h"

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// One view, with a part of its JSON replaced.
std::string view_json(std::string_view replaced = "", std::string_view by = "") {
  std::string text =
      R"([{"name":"cpu-by-dc","metrics":"cpu.*","interval":"5m","functions":["sum","max"],)"
      R"("group_by":["rack","dc","dc"],"keep":"2y"}])";
  if (!replaced.empty()) text.replace(text.find(replaced), replaced.size(), by);
  return text;
}

std::string error_of(std::string_view replaced, std::string_view by) {
  const auto parsed = parse_view_rules(view_json(replaced, by));
  return parsed ? "no error" : parsed.error().message;
}

TEST(ViewRules, AreRead) {
  const auto parsed = parse_view_rules(view_json());
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->size(), 1U);
  const ViewRule& rule = parsed->front();
  EXPECT_EQ(rule.name, "cpu-by-dc");
  EXPECT_EQ(rule.interval_ms, 300'000);
  EXPECT_EQ(rule.functions, (ViewFunctions{.sum = true, .min = false, .max = true}));
  EXPECT_THAT(*rule.group_by, ElementsAre("dc", "rack"));
  EXPECT_EQ(rule.keep_ms, 730 * kDayMs);
  EXPECT_EQ(rule.unit_ms(), kHourMs);
  EXPECT_EQ(rule.definition(), "300000 ms: sum max by dc rack");
  EXPECT_TRUE(rule.covers("cpu.user"));
  EXPECT_FALSE(rule.covers("cpu"));
}

TEST(ViewRules, WithoutGroupByKeepAllTags) {
  const auto parsed = parse_view_rules(view_json(R"("group_by":["rack","dc","dc"],)"));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_FALSE(parsed->front().group_by);
  EXPECT_EQ(parsed->front().definition(), "300000 ms: sum max by all tags");
}

TEST(ViewRules, PercentilesNeedASketch) {
  const auto parsed =
      parse_view_rules(view_json(R"("sum","max")", R"("p999","count","p50","p999")"));
  ASSERT_TRUE(parsed) << parsed.error().message;
  const ViewRule& rule = parsed->front();
  EXPECT_TRUE(rule.functions.sketch);
  EXPECT_THAT(rule.percentiles, ElementsAre("p999", "p50"));
  EXPECT_EQ(rule.definition(), "300000 ms: sketch by dc rack");
  const auto others = parse_view_rules(view_json(R"("sum","max")", R"("p75","p90","p95","p99")"));
  EXPECT_EQ(others.value().front().definition(), rule.definition());
}

TEST(ViewRules, AUnitIsABucketThatIsLongerThanAnHour) {
  EXPECT_EQ(parse_view_rules(view_json("5m", "6h")).value().front().unit_ms(), 6 * kHourMs);
  EXPECT_EQ(parse_view_rules(view_json("5m", "1d")).value().front().unit_ms(), kDayMs);
}

TEST(ViewRules, ErrorsSayWhatIsWrong) {
  EXPECT_THAT(error_of("cpu-by-dc", "cpu by dc"), HasSubstr("views: view 1: the name"));
  EXPECT_THAT(error_of("cpu.*", "c*u"), HasSubstr("a name, or a prefix that ends in *"));
  EXPECT_THAT(error_of("5m", "7m"), HasSubstr(R"(the interval "7m" must divide an hour)"));
  EXPECT_THAT(error_of("5m", "5h"), HasSubstr(R"(the interval "5h" must divide an hour)"));
  EXPECT_THAT(
      error_of("\"max\"", "\"p98\""),
      HasSubstr(R"(unknown function "p98"; the functions are sum, count, min, max, p50, )"));
  EXPECT_THAT(error_of("\"sum\",\"max\"", ""), HasSubstr("functions must name at least one"));
  EXPECT_THAT(error_of("2y", "two"), HasSubstr(R"(keep "two" must be a duration)"));
  EXPECT_THAT(error_of("\"keep\"", "\"kept\""), HasSubstr(R"(unknown key "kept")"));
  EXPECT_THAT(error_of("[{", "{"), HasSubstr("must be [[views]] tables"));
  const auto twice = parse_view_rules(view_json("}]", "}, " + view_json().substr(1)));
  EXPECT_THAT(twice.error().message, HasSubstr("the name cpu-by-dc is used twice"));
}

}  // namespace
}  // namespace halite::storage
