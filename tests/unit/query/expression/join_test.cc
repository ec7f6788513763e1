#include "query/expression/join.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::query {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

constexpr std::uint64_t kHost = 1;

ExpressionSeries with_host(std::uint64_t host, const std::string& metric) {
  ExpressionSeries series;
  series.meaning.metrics.emplace(metric, Bytes());
  if (host != 0) {
    series.meaning.tags[kHost] = {
        .key = "host", .value = "web" + std::to_string(host), .value_uid = host};
  }
  return series;
}

struct TwoInputs {
  std::vector<ExpressionSeries> a = {with_host(2, "m.a"), with_host(1, "m.a")};
  std::vector<ExpressionSeries> b = {with_host(3, "m.b"), with_host(2, "m.b")};
  std::vector<JoinInput> inputs = {{.id = "a", .series = &a, .query_tags = {}},
                                   {.id = "b", .series = &b, .query_tags = {}}};
};

TEST(Join, UnionHasAllInTheOrderOfIds) {
  TwoInputs two;
  const auto joined = join(two.inputs, {}, "e");
  ASSERT_TRUE(joined);
  ASSERT_EQ(joined->series.size(), 3U);
  EXPECT_THAT(joined->series[0].members, ElementsAre(1, std::nullopt));
  EXPECT_THAT(joined->series[1].members, ElementsAre(0, 1));
  EXPECT_THAT(joined->series[2].members, ElementsAre(std::nullopt, 0));
  EXPECT_EQ(joined->series[1].meaning.metrics.size(), 2U);
  EXPECT_EQ(joined->series[1].meaning.tags.at(kHost).value, "web2");
  // The first input has no such series, and the first input gives the tags.
  EXPECT_TRUE(joined->series[2].meaning.tags.empty());
}

TEST(Join, IntersectionHasWhatAllHave) {
  TwoInputs two;
  const auto joined = join(two.inputs, {.op = JoinOperator::kIntersection}, "e");
  ASSERT_TRUE(joined);
  ASSERT_EQ(joined->series.size(), 1U);
  EXPECT_THAT(joined->series[0].members, ElementsAre(0, 1));
  EXPECT_THAT(joined->dropped[0], ElementsAre(false, true));
  EXPECT_THAT(joined->dropped[1], ElementsAre(true, false));
}

TEST(Join, EmptyIntersectionsAreRefusedUnlessAllIsEmpty) {
  TwoInputs two;
  two.b.clear();
  const JoinSpec spec{.op = JoinOperator::kIntersection};
  EXPECT_THAT(join(two.inputs, spec, "e").error().message,
              StartsWith("No intersections found: IntersectionIterator(id=e, "));
  two.a.clear();
  EXPECT_TRUE(join(two.inputs, spec, "e"));
}

TEST(Join, QueryTagsAloneCanCount) {
  TwoInputs two;
  const JoinSpec spec{.use_query_tags = true};
  // No filter names a tag: all are alike, and the last of each input counts.
  const auto joined = join(two.inputs, spec, "e");
  ASSERT_EQ(joined->series.size(), 1U);
  EXPECT_THAT(joined->series[0].members, ElementsAre(1, 1));
  for (JoinInput& input : two.inputs) input.query_tags = {"host"};
  EXPECT_EQ(join(two.inputs, spec, "e")->series.size(), 3U);
}

TEST(Join, AggregatedTagsCountUnlessThereAreNoTags) {
  TwoInputs two;
  two.a = {with_host(1, "m.a")};
  two.b = {with_host(1, "m.b")};
  two.b[0].meaning.aggregate_tags[7] = "dc";
  EXPECT_EQ(join(two.inputs, {}, "e")->series.size(), 2U);
  EXPECT_EQ(join(two.inputs, {.include_agg_tags = false}, "e")->series.size(), 1U);
  two.a = {with_host(0, "m.a")};
  two.b = {with_host(0, "m.b")};
  two.b[0].meaning.aggregate_tags[7] = "dc";
  EXPECT_EQ(join(two.inputs, {}, "e")->series.size(), 1U);
}

TEST(JavaHashOrder, IsThatOfHashMap) {
  EXPECT_THAT(java_hash_order({"b", "a"}, 2), ElementsAre("a", "b"));
  EXPECT_THAT(java_hash_order({"e2", "e"}, 2), ElementsAre("e2", "e"));  // one bucket
  EXPECT_THAT(java_hash_order({"q", "p", "a"}, 16), ElementsAre("p", "q", "a"));
}

}  // namespace
}  // namespace halite::query
