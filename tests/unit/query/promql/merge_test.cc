#include "query/promql/eval/merge.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/query/promql/columns.h"

namespace halite::query::promql {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kQuietNaN = std::numeric_limits<double>::quiet_NaN();

TEST(PromqlMerge, JoinsRowsWithEqualLabels) {
  Vector vector{.rows = {{{{"j", "a"}}, {1, kNone, kNone}},
                         {{{"j", "b"}}, {5, 5, 5}},
                         {{{"j", "a"}}, {kNone, kNone, kQuietNaN}},
                         {{{"j", "a"}}, {kNone, 2, kNone}}}};
  ASSERT_TRUE(merge_equal(vector));
  EXPECT_THAT(rows_of(vector), ElementsAre(R"({j="a"} 1 2 NaN)", R"({j="b"} 5 5 5)"));
}

TEST(PromqlMerge, RefusesTwoValuesAtAStep) {
  Vector vector{.rows = {{{{"j", "a"}}, {1, 2}}, {{{"j", "a"}}, {kNone, kQuietNaN}}}};
  const Result<void> merged = merge_equal(vector);
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(merged.error().message, "vector cannot contain metrics with the same labelset");
}

TEST(PromqlMerge, RemovesRowsWithoutAValue) {
  Vector vector{.rows = {{{{"j", "a"}}, {kNone, kNone}},
                         {{{"j", "b"}}, {kNone, kQuietNaN}},
                         {{}, {kNone, kNone}}},
                .ordered = true};
  ASSERT_TRUE(merge_equal(vector));
  EXPECT_THAT(rows_of(vector), ElementsAre(R"({j="b"} _ NaN)"));
  EXPECT_TRUE(vector.ordered);
  Vector none;
  ASSERT_TRUE(merge_equal(none));
  EXPECT_THAT(none.rows, IsEmpty());
}

TEST(PromqlMerge, TellsLabelsApartByTheirParts) {
  Vector vector{.rows = {{{{"a", "bc"}}, {1}}, {{{"ab", "c"}}, {2}}, {{{"a", "b"}}, {3}}}};
  ASSERT_TRUE(merge_equal(vector));
  EXPECT_EQ(vector.rows.size(), 3);
}

TEST(PromqlMerge, RefusesEqualLabelsEvenAtDifferentSteps) {
  EXPECT_TRUE(refuse_equal({.rows = {{{{"j", "a"}}, {1}}, {{{"j", "b"}}, {1}}}}));
  EXPECT_FALSE(refuse_equal({.rows = {{{{"j", "a"}}, {1, kNone}}, {{{"j", "a"}}, {kNone, 1}}}}));
  EXPECT_TRUE(refuse_equal({.rows = {{{{"j", "a"}}, {1, 1}}, {{{"j", "a"}}, {kNone, kNone}}}}));
}

}  // namespace
}  // namespace halite::query::promql
