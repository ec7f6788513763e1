#include "storage/cells/counters/counter_rules.h"

#include <gtest/gtest.h>

#include "common/units.h"

namespace halite::storage {
namespace {

std::string rules_error(std::string_view json) {
  const auto rules = CounterRules::parse(json, 0);
  return rules ? "" : rules.error().message;
}

std::string rule_json(std::string_view metrics, std::string_view buckets, std::string_view keep) {
  return R"([{"metrics":")" + std::string(metrics) + R"(","buckets":)" + std::string(buckets) +
         R"(,"keep":)" + std::string(keep) + "}]";
}

TEST(CounterRules, BucketsAreSortedWithTheirKeep) {
  const auto rules =
      CounterRules::parse(rule_json("web.*", R"(["all","1d","1h"])", R"(["0","400d","14d"])"), 0)
          .value();
  const CounterRule& web = *rules.find("web.hits");
  ASSERT_EQ(web.buckets.size(), 3);
  EXPECT_EQ(web.buckets[0].name, "1h");
  EXPECT_EQ(web.buckets[0].length_ms, 3'600'000);
  EXPECT_EQ(web.buckets[0].keep_ms, 14 * kDayMs);
  EXPECT_EQ(web.buckets[1].keep_ms, 400 * kDayMs);
  EXPECT_EQ(web.buckets[2].length_ms, 0);
  EXPECT_EQ(rules.find("webhits"), nullptr);
}

TEST(CounterRules, ANameBeatsAPrefixAndALongPrefixAShortOne) {
  const auto rules = CounterRules::parse(
                         R"([{"metrics":"*","buckets":["1s"],"keep":["1d"]},
                             {"metrics":"web.*","buckets":["1m"],"keep":["1d"]},
                             {"metrics":"web.hits","buckets":["1h"],"keep":["1d"]}])",
                         0)
                         .value();
  EXPECT_EQ(rules.find("web.hits")->buckets[0].name, "1h");
  EXPECT_EQ(rules.find("web.hits2")->buckets[0].name, "1m");
  EXPECT_EQ(rules.find("other")->buckets[0].name, "1s");
}

TEST(CounterRules, WithoutARuleAMinuteIsKeptAsPointsAre) {
  const auto rules = CounterRules::parse("", 7 * kDayMs).value();
  EXPECT_EQ(rules.find("m"), nullptr);
  ASSERT_EQ(rules.without_rule().buckets.size(), 1);
  EXPECT_EQ(rules.without_rule().buckets[0].name, "1m");
  EXPECT_EQ(rules.without_rule().buckets[0].keep_ms, 7 * kDayMs);
}

TEST(CounterRules, TimesBelongToBuckets) {
  const auto rules =
      CounterRules::parse(rule_json("m", R"(["1h","all"])", R"(["1d","0"])"), 0).value();
  const CounterBucket& hour = rules.find("m")->buckets[0];
  EXPECT_EQ(hour.begin_of(3'599'999), 0);
  EXPECT_EQ(hour.begin_of(3'600'000), 3'600'000);
  EXPECT_FALSE(hour.expired(0, 3'600'000 + kDayMs - 1));
  EXPECT_TRUE(hour.expired(0, 3'600'000 + kDayMs));
  const CounterBucket& all = rules.find("m")->buckets[1];
  EXPECT_EQ(all.begin_of(1'700'000'000'000), 0);
  EXPECT_FALSE(all.expired(0, INT64_MAX));
}

TEST(CounterRules, ErrorsNameTheRuleAndTheReason) {
  EXPECT_EQ(rules_error("{}"),
            "counters must be [[counters]] tables, or a JSON list of such tables");
  EXPECT_EQ(rules_error("[1]"), "counters: rule 1: must be a table");
  EXPECT_EQ(rules_error(rule_json("", R"(["1h"])", R"(["1d"])")),
            "counters: rule 1: metrics must be a name, or a prefix that ends in *");
  EXPECT_EQ(rules_error(rule_json("a*b", R"(["1h"])", R"(["1d"])")),
            "counters: rule 1: metrics must be a name, or a prefix that ends in *");
  EXPECT_EQ(rules_error(rule_json("m", R"(["7m"])", R"(["1d"])")),
            "counters: rule 1: the bucket \"7m\" must be whole seconds that divide a day, such as "
            "1m, 1h or 1d, or all");
  for (const char* const bad : {"500ms", "2d", "0", "-1h", "x", ""}) {
    EXPECT_NE(rules_error(rule_json("m", "[\"" + std::string(bad) + "\"]", R"(["1d"])")), "")
        << bad;
  }
  EXPECT_EQ(rules_error(rule_json("m", R"(["1h"])", R"(["soon"])")),
            "counters: rule 1: keep \"soon\" must be a duration such as 14d, or 0 for ever");
  EXPECT_EQ(rules_error(rule_json("m", R"(["all"])", R"(["1d"])")),
            "counters: rule 1: the bucket all is kept for ever: its keep must be 0");
  EXPECT_EQ(rules_error(rule_json("m", R"(["1h","60m"])", R"(["1d","1d"])")),
            "counters: rule 1: names a bucket twice");
  EXPECT_EQ(rules_error(rule_json("m", R"(["1h","1d"])", R"(["1d"])")),
            "counters: rule 1: needs 1 to 16 buckets and one keep for each; has 2 and 1");
  EXPECT_EQ(rules_error(R"([{"metrics":"m","bucket":["1h"],"keep":["1d"]}])"),
            "counters: rule 1: unknown key \"bucket\"; the keys are metrics, buckets and keep");
  EXPECT_EQ(rules_error(R"([{"metrics":"m","buckets":["1h"],"keep":["1d"]},
                         {"metrics":"m","buckets":["1h"],"keep":["1d"]}])"),
            "counters: rule 2: m has a rule already");
}

}  // namespace
}  // namespace halite::storage
