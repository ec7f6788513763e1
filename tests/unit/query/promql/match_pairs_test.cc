#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/promql/eval/match.h"
#include "query/query_budget.h"
#include "tests/unit/query/promql/columns.h"

namespace halite::query::promql {
namespace {

using testing::UnorderedElementsAre;

class PromqlMatchPairs : public testing::Test {
 protected:
  // many * on(j) group_left(v) one
  Result<Vector> multiply(Vector many, Vector one, std::size_t steps) {
    Binary binary;
    binary.op = BinaryOp::kMultiply;
    binary.matching = {.cardinality = MatchCardinality::kManyToOne,
                       .labels = {"j"},
                       .on = true,
                       .include = {"v"},
                       .fill_left = {},
                       .fill_right = {}};
    return match_vectors(binary, std::move(many), std::move(one), {.count = steps}, {}, texts_,
                         annotations_, budget_);
  }

  TextArena texts_;
  Annotations annotations_{"a * b"};
  FakeClock clock_{0};
  QueryBudget budget_{{.bytes_max = 1 << 20}, clock_, {}};
};

// Each of the many rows matches another one at each step: columns for all pairs.
TEST_F(PromqlMatchPairs, AreCountedBeforeTheyAreMade) {
  constexpr std::size_t kSteps = 100;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kSteps; ++i) names.push_back(std::to_string(i));
  const auto many = [&names](std::size_t rows) {
    Vector vector;
    for (std::size_t i = 0; i < rows; ++i) {
      vector.rows.push_back({{{"j", "a"}, {"k", names[i]}}, std::vector<double>(kSteps, 1)});
    }
    return vector;
  };
  Vector one;
  for (std::size_t i = 0; i < kSteps; ++i) {
    std::vector<double> values(kSteps, kNone);
    values[i] = static_cast<double>(i);
    one.rows.push_back({{{"j", "a"}, {"v", names[i]}}, std::move(values)});
  }
  const Result<Vector> few = multiply(many(3), one, kSteps);
  ASSERT_TRUE(few) << few.error().message;
  EXPECT_EQ(few->rows.size(), 3 * kSteps);
  EXPECT_EQ(budget_.bytes(), 0);
  const Result<Vector> all = multiply(many(kSteps), one, kSteps);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, Errc::kTooLarge);
  EXPECT_EQ(budget_.bytes(), 0);
}

// Rows of the one side that give the same labels become one column.
TEST_F(PromqlMatchPairs, RowsWithTheSameIncludedLabelsAreOne) {
  Vector one;
  for (const char* const instance : {"1", "2", "3"}) {
    for (const char* const version : {"x", "y"}) {
      const std::size_t step = one.rows.size();
      std::vector<double> values(6, kNone);
      values[step] = static_cast<double>(step);
      one.rows.push_back({{{"i", instance}, {"j", "a"}, {"v", version}}, std::move(values)});
    }
  }
  const Vector many{.rows = {{{{"j", "a"}}, {1, 1, 1, 1, 1, 1}}}};
  EXPECT_THAT(
      rows_of(multiply(many, one, 6).value()),
      UnorderedElementsAre(R"({j="a", v="x"} 0 _ 2 _ 4 _)", R"({j="a", v="y"} _ 1 _ 3 _ 5)"));
}

}  // namespace
}  // namespace halite::query::promql
