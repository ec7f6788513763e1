#include "query/promql/eval/labels.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sample_point_store.h"

namespace halite::query::promql {
namespace {

using ::testing::ElementsAre;

std::vector<Label> labels_listed(const Labels& labels) { return {labels.begin(), labels.end()}; }

TEST(Labels, AreInTheOrderOfNamesWithoutEmptyOnes) {
  const Labels labels = {{"b", "2"}, {"", ""}, {"B", "3"}, {"__name__", "m"}, {"c", ""}};
  EXPECT_THAT(labels_listed(labels),
              ElementsAre(Label{"B", "3"}, Label{"__name__", "m"}, Label{"b", "2"}));
  EXPECT_EQ(labels.get("b"), "2");
  EXPECT_EQ(labels.get("c"), "");
  EXPECT_TRUE(Labels().empty());
}

TEST(Labels, OfASeriesAreSorted) {
  test::SamplePointStore store(
      {
          {.name = {.metric = "m", .tags = {{"z", "1"}}}, .points = {}},
          {.name = {.metric = "n", .tags = {{"A", "2"}, {"b", "3"}, {"z", "1"}}}, .points = {}},
          {.name = {.metric = "o", .tags = {{"__name__", "p"}, {"a", "4"}}}, .points = {}},
      },
      1, 1);
  EXPECT_THAT(labels_listed(Labels::of(store.series(0))),
              ElementsAre(Label{"__name__", "m"}, Label{"z", "1"}));
  EXPECT_EQ(store.series(1).tags.front().key, "z");  // the order of uids is another one
  EXPECT_THAT(
      labels_listed(Labels::of(store.series(1))),
      ElementsAre(Label{"A", "2"}, Label{"__name__", "n"}, Label{"b", "3"}, Label{"z", "1"}));
  // OpenTSDB's own API can write a tag of that name. The metric is the name.
  EXPECT_THAT(labels_listed(Labels::of(store.series(2))),
              ElementsAre(Label{"__name__", "o"}, Label{"a", "4"}));
}

TEST(Labels, AreSetAndErased) {
  Labels labels = {{"b", "2"}};
  labels.set("a", "1");
  labels.set("c", "3");
  labels.set("b", "4");
  EXPECT_THAT(labels_listed(labels),
              ElementsAre(Label{"a", "1"}, Label{"b", "4"}, Label{"c", "3"}));
  labels.set("b", "");
  labels.set("d", "");
  labels.erase("a");
  labels.erase("x");
  EXPECT_THAT(labels_listed(labels), ElementsAre(Label{"c", "3"}));
}

TEST(Labels, LoseTheirNameWithTypeAndUnit) {
  Labels labels = {{"__name__", "m"}, {"__type__", "counter"},
                   {"__unit__", "s"}, {"__x__", "1"},
                   {"a", "2"},        {"name", "3"}};
  labels.drop_name();
  EXPECT_THAT(labels_listed(labels),
              ElementsAre(Label{"__x__", "1"}, Label{"a", "2"}, Label{"name", "3"}));
}

TEST(Labels, KeepAndEraseLists) {
  const Labels labels = {{"a", "1"}, {"b", "2"}, {"d", "3"}};
  const std::vector<std::string> names = {"", "a", "c", "d", "e"};
  Labels kept = labels;
  kept.keep_only(names);
  EXPECT_THAT(labels_listed(kept), ElementsAre(Label{"a", "1"}, Label{"d", "3"}));
  Labels left = labels;
  left.erase_all(names);
  EXPECT_THAT(labels_listed(left), ElementsAre(Label{"b", "2"}));
  kept.keep_only({});
  EXPECT_TRUE(kept.empty());
  left.erase_all({});
  EXPECT_EQ(left.size(), 1);
}

TEST(Labels, HaveDifferentKeysIfTheyDiffer) {
  const std::vector<Labels> all = {
      {}, {{"a", "b"}}, {{"ab", "c"}}, {{"a", "bc"}}, {{"a", "b"}, {"c", "d"}}, {{"a", "bcd"}},
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      EXPECT_EQ(all[i].key() == all[j].key(), i == j) << all[i].text() << all[j].text();
    }
  }
  std::string key = "x";
  all[1].append_key(key);
  EXPECT_EQ(key, "x" + all[1].key());
}

TEST(Labels, CompareByNamesAndValuesThenByNumber) {
  const std::vector<Labels> sorted = {
      {},
      {{"a", "1"}},
      {{"a", "1"}, {"b", "1"}},
      {{"a", "1"}, {"c", "1"}},
      {{"a", "2"}},
      {{"a", "\xc3\xa4"}},
      {{"b", "1"}},
  };
  EXPECT_TRUE(std::ranges::is_sorted(sorted));
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
}

TEST(Labels, PrintAsPrometheusDoes) {
  EXPECT_EQ(Labels().text(), "{}");
  const Labels labels = {{"job", "a\"\n"}, {"__name__", "m"}, {"na.me", "x"}, {"0", "y"}};
  EXPECT_EQ(labels.text(), R"({"0"="y", __name__="m", job="a\"\n", "na.me"="x"})");
}

TEST(TextArena, KeepsTextsWhereTheyAre) {
  TextArena texts;
  const std::string_view first = texts.keep("short");
  for (int i = 0; i < 1000; ++i) texts.keep(std::to_string(i));
  EXPECT_EQ(first, "short");
}

}  // namespace
}  // namespace halite::query::promql
