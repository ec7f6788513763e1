#include "query/promql/eval/aggregate.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_budget.h"
#include "tests/unit/query/promql/columns.h"

namespace halite::query::promql {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Ask {
  AggregateOp op = AggregateOp::kSum;
  std::vector<std::string> grouping = {};
  bool without = false;
  std::vector<double> numbers = {};
  std::string label = {};
  bool instant = false;
  std::size_t values_max = 1000;
};

class PromqlAggregate : public testing::Test {
 protected:
  Result<Vector> ask(const Ask& ask, const Vector& input, std::size_t steps) {
    Aggregation aggregation;
    aggregation.op = ask.op;
    aggregation.grouping = ask.grouping;
    aggregation.without = ask.without;
    const AggregateParameter parameter{.numbers = ask.numbers,
                                       .label = ask.label,
                                       .values_max = ask.values_max,
                                       .budget = &budget_};
    return aggregate(aggregation, input, parameter, {.count = steps}, ask.instant, texts_,
                     annotations_);
  }
  std::vector<std::string> rows(const Ask& to_ask, const Vector& input) {
    const std::size_t steps = input.rows.empty() ? 1 : input.rows.front().values.size();
    const Result<Vector> result = ask(to_ask, input, steps);
    if (!result) return {result.error().message};
    return rows_of(*result);
  }
  // Of one group of one column.
  std::string value(AggregateOp op, const std::vector<double>& values, double number = 0) {
    Vector input;
    for (std::size_t i = 0; i < values.size(); ++i) {
      input.rows.push_back({{{"i", texts_.keep(std::to_string(i))}}, {values[i]}});
    }
    const std::vector<std::string> texts = rows({.op = op, .numbers = {number}}, input);
    return texts.size() == 1 ? texts.front() : "no value";
  }

  TextArena texts_;
  test::TestBudget budget_;
  Annotations annotations_{"topk(3, v)"};
};

// Counters at one time.
Vector totals() {
  return {.rows = {{{{"__name__", "r"}, {"i", "1"}, {"j", "a"}}, {35}},
                   {{{"__name__", "r"}, {"i", "2"}, {"j", "a"}}, {72}},
                   {{{"__name__", "r"}, {"i", "1"}, {"j", "b"}}, {130}}}};
}

TEST_F(PromqlAggregate, GroupsByLabelsOrWithoutThem) {
  EXPECT_THAT(rows({}, totals()), ElementsAre("{} 237"));
  EXPECT_THAT(rows({.grouping = {"j"}}, totals()), ElementsAre(R"({j="a"} 107)", R"({j="b"} 130)"));
  EXPECT_THAT(rows({.grouping = {"j", "no", "j"}}, totals()),
              ElementsAre(R"({j="a"} 107)", R"({j="b"} 130)"));
  EXPECT_THAT(rows({.grouping = {"i"}, .without = true}, totals()),
              ElementsAre(R"({j="a"} 107)", R"({j="b"} 130)"));
  EXPECT_THAT(rows({.without = true}, totals()),
              ElementsAre(R"({i="1", j="a"} 35)", R"({i="2", j="a"} 72)", R"({i="1", j="b"} 130)"));
  EXPECT_THAT(rows({.grouping = {"__name__"}}, totals()), ElementsAre(R"({__name__="r"} 237)"));
  EXPECT_THAT(rows({.grouping = {"no"}}, totals()), ElementsAre("{} 237"));
}

TEST_F(PromqlAggregate, ComputesEachStepByItself) {
  const Vector input{.rows = {{{{"i", "1"}, {"j", "a"}}, {1, kNone, kNone, kNone}},
                              {{{"i", "2"}, {"j", "a"}}, {2, 3, kNone, kNone}},
                              {{{"j", "b"}}, {kNone, kNone, kNone, 4}},
                              {{{"j", "c"}}, {kNone, kNone, kNone, kNone}}}};
  EXPECT_THAT(rows({.grouping = {"j"}}, input),
              ElementsAre(R"({j="a"} 3 3 _ _)", R"({j="b"} _ _ _ 4)"));
  EXPECT_THAT(rows({}, input), ElementsAre("{} 3 3 _ 4"));
  EXPECT_THAT(rows({.op = AggregateOp::kCount}, input), ElementsAre("{} 2 1 _ 1"));
  EXPECT_THAT(rows({.op = AggregateOp::kGroup}, input), ElementsAre("{} 1 1 _ 1"));
  EXPECT_THAT(rows({.op = AggregateOp::kAvg}, input), ElementsAre("{} 1.5 3 _ 4"));
  EXPECT_THAT(rows({.op = AggregateOp::kMin}, input), ElementsAre("{} 1 3 _ 4"));
  EXPECT_THAT(rows({.op = AggregateOp::kMax}, input), ElementsAre("{} 2 3 _ 4"));
  EXPECT_THAT(rows({.op = AggregateOp::kStdvar}, input), ElementsAre("{} 0.25 0 _ 0"));
  EXPECT_THAT(rows({.op = AggregateOp::kStddev}, input), ElementsAre("{} 0.5 0 _ 0"));
  EXPECT_THAT(rows({.op = AggregateOp::kQuantile, .numbers = {0, 0.5, 1, 1}}, input),
              ElementsAre("{} 1 3 _ 4"));
}

TEST_F(PromqlAggregate, OfNothingIsNothing) {
  for (const AggregateOp op : {AggregateOp::kSum, AggregateOp::kCount, AggregateOp::kTopk,
                               AggregateOp::kQuantile, AggregateOp::kLimitRatio}) {
    EXPECT_THAT(rows({.op = op, .numbers = {0.5}}, {}), IsEmpty());
  }
  EXPECT_THAT(rows({.op = AggregateOp::kCountValues, .label = "v"}, {}), IsEmpty());
}

TEST_F(PromqlAggregate, AddsWithCompensation) {
  EXPECT_EQ(value(AggregateOp::kSum, {1, 1e100, 1, -1e100}), "{} 2");
  EXPECT_EQ(value(AggregateOp::kSum, {kInfinity, 1}), "{} +Inf");
  EXPECT_EQ(value(AggregateOp::kSum, {kInfinity, -kInfinity}), "{} NaN");
  EXPECT_EQ(value(AggregateOp::kSum, {1, kNaN}), "{} NaN");
  EXPECT_EQ(value(AggregateOp::kSum, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}), "{} 1");
}

TEST_F(PromqlAggregate, HasAMeanThatDoesNotOverflow) {
  EXPECT_EQ(value(AggregateOp::kAvg, {1e308, 1e308}), "{} 1e+308");
  EXPECT_EQ(value(AggregateOp::kAvg, {1, 1e100, 1, -1e100}), "{} 0.5");
  EXPECT_EQ(value(AggregateOp::kAvg, {kInfinity}), "{} +Inf");
  EXPECT_EQ(value(AggregateOp::kAvg, {kInfinity, 1, kInfinity}), "{} +Inf");
  EXPECT_EQ(value(AggregateOp::kAvg, {kInfinity, -kInfinity}), "{} NaN");
  EXPECT_EQ(value(AggregateOp::kAvg, {kNaN, 7}), "{} NaN");
}

TEST_F(PromqlAggregate, HasTheLeastAndTheMostThatIsNoNaN) {
  EXPECT_EQ(value(AggregateOp::kMin, {kNaN, 3, 2}), "{} 2");
  EXPECT_EQ(value(AggregateOp::kMax, {2, kNaN, 3}), "{} 3");
  EXPECT_EQ(value(AggregateOp::kMin, {kNaN, kNaN}), "{} NaN");
  EXPECT_EQ(value(AggregateOp::kMax, {-kInfinity}), "{} -Inf");
  EXPECT_EQ(value(AggregateOp::kMin, {kInfinity, -kInfinity}), "{} -Inf");
}

TEST_F(PromqlAggregate, HasVariances) {
  const Result<Vector> variance = ask({.op = AggregateOp::kStdvar}, totals(), 1);
  ASSERT_TRUE(variance);
  EXPECT_NEAR(variance->rows.front().values.front(), 4586.0 / 3, 1e-9);
  EXPECT_EQ(value(AggregateOp::kStddev, {2, 4, 4, 4, 5, 5, 7, 9}), "{} 2");
  EXPECT_EQ(value(AggregateOp::kStdvar, {kInfinity}), "{} NaN");
  EXPECT_EQ(value(AggregateOp::kStddev, {1, kNaN}), "{} NaN");
}

TEST_F(PromqlAggregate, HasQuantiles) {
  EXPECT_EQ(value(AggregateOp::kQuantile, {35, 72, 130}, 0.75), "{} 101");
  EXPECT_EQ(value(AggregateOp::kQuantile, {3, kNaN, 1}, 0), "{} NaN");
  EXPECT_EQ(value(AggregateOp::kQuantile, {3, kNaN, 1}, 0.5), "{} 1");
  EXPECT_THAT(annotations_.warnings(), IsEmpty());
  EXPECT_EQ(value(AggregateOp::kQuantile, {1}, -0.5), "{} -Inf");
  EXPECT_EQ(value(AggregateOp::kQuantile, {1}, 1.5), "{} +Inf");
  EXPECT_EQ(value(AggregateOp::kQuantile, {1}, kNaN), "{} NaN");
  EXPECT_THAT(annotations_.warnings(),
              testing::UnorderedElementsAre(
                  HasSubstr("quantile value should be between 0 and 1, got -0.5"),
                  HasSubstr("quantile value should be between 0 and 1, got 1.5"),
                  HasSubstr("quantile value should be between 0 and 1, got NaN")));
}

TEST_F(PromqlAggregate, HasQuantilesOfManySteps) {
  Vector input;
  std::vector<double> quantiles;
  for (double r = 0; r < 3; ++r) {
    Row row{{{"i", texts_.keep(std::to_string(r))}, {"j", r < 2 ? "a" : "b"}}, {}};
    for (double i = 0; i < 20; ++i) row.values.push_back(10 * i + r);
    input.rows.push_back(std::move(row));
  }
  for (double i = 0; i < 20; ++i) quantiles.push_back(i < 10 ? 0.5 : 1);
  const Result<Vector> result =
      ask({.op = AggregateOp::kQuantile, .grouping = {"j"}, .numbers = quantiles}, input, 20);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->rows.size(), 2);
  for (std::size_t i = 0; i < 20; ++i) {
    const double begin = 10 * static_cast<double>(i);
    EXPECT_EQ(result->rows[0].values[i], i < 10 ? begin + 0.5 : begin + 1);
    EXPECT_EQ(result->rows[1].values[i], begin + 2);
  }
}

TEST_F(PromqlAggregate, OrdersTheTopRowsOfAnInstant) {
  Ask ask{.op = AggregateOp::kTopk, .numbers = {2.9}, .instant = true};
  EXPECT_THAT(rows(ask, totals()), ElementsAre(R"({__name__="r", i="1", j="b"} 130)",
                                               R"({__name__="r", i="2", j="a"} 72)"));
  ask.op = AggregateOp::kBottomk;
  EXPECT_THAT(rows(ask, totals()), ElementsAre(R"({__name__="r", i="1", j="a"} 35)",
                                               R"({__name__="r", i="2", j="a"} 72)"));
  ask.op = AggregateOp::kTopk;
  ask.grouping = {"i"};
  ask.numbers = {1};
  EXPECT_THAT(rows(ask, totals()), ElementsAre(R"({__name__="r", i="1", j="b"} 130)",
                                               R"({__name__="r", i="2", j="a"} 72)"));
  EXPECT_TRUE(this->ask(ask, totals(), 1)->ordered);
  ask.instant = false;
  EXPECT_FALSE(this->ask(ask, totals(), 1)->ordered);
  EXPECT_THAT(rows(ask, totals()), ElementsAre(R"({__name__="r", i="2", j="a"} 72)",
                                               R"({__name__="r", i="1", j="b"} 130)"));
}

TEST_F(PromqlAggregate, TakesNaNOnlyIfThereIsRoom) {
  const Vector input{.rows = {{{{"j", "a"}}, {kNaN}},
                              {{{"j", "b"}}, {7}},
                              {{{"j", "c"}}, {-kInfinity}},
                              {{{"j", "d"}}, {kInfinity}}}};
  Ask ask{.op = AggregateOp::kTopk, .numbers = {9}, .instant = true};
  EXPECT_THAT(rows(ask, input),
              ElementsAre(R"({j="d"} +Inf)", R"({j="b"} 7)", R"({j="c"} -Inf)", R"({j="a"} NaN)"));
  ask.op = AggregateOp::kBottomk;
  EXPECT_THAT(rows(ask, input),
              ElementsAre(R"({j="c"} -Inf)", R"({j="b"} 7)", R"({j="d"} +Inf)", R"({j="a"} NaN)"));
  ask.numbers = {3};
  EXPECT_THAT(rows(ask, input), ElementsAre(R"({j="c"} -Inf)", R"({j="b"} 7)", R"({j="d"} +Inf)"));
}

TEST_F(PromqlAggregate, KeepsTheEarlierOfEqualRows) {
  const Vector input{.rows = {{{{"j", "a"}}, {1}}, {{{"j", "b"}}, {1}}, {{{"j", "c"}}, {1}}}};
  EXPECT_THAT(rows({.op = AggregateOp::kTopk, .numbers = {2}, .instant = true}, input),
              ElementsAre(R"({j="a"} 1)", R"({j="b"} 1)"));
}

TEST_F(PromqlAggregate, KeepsOtherTopRowsAtEachStep) {
  Vector input{.rows = {{{{"j", "a"}}, {}}, {{{"j", "b"}}, {}}, {{{"j", "c"}}, {}}}};
  std::vector<double> counts;
  for (int i = 0; i < 10; ++i) {
    input.rows[0].values.push_back(i);
    input.rows[1].values.push_back(9 - i);
    input.rows[2].values.push_back(-1);
    counts.push_back(i == 8 ? 0 : 1);
  }
  EXPECT_THAT(rows({.op = AggregateOp::kTopk, .numbers = counts}, input),
              ElementsAre(R"({j="a"} _ _ _ _ _ 5 6 7 _ 9)", R"({j="b"} 9 8 7 6 5 _ _ _ _ _)"));
  counts[0] = -3;
  counts[9] = 5;
  EXPECT_THAT(rows({.op = AggregateOp::kBottomk, .numbers = counts}, input),
              ElementsAre(R"({j="a"} _ _ _ _ _ _ _ _ _ 9)", R"({j="b"} _ _ _ _ _ _ _ _ _ 0)",
                          R"({j="c"} _ -1 -1 -1 -1 -1 -1 -1 _ -1)"));
}

TEST_F(PromqlAggregate, RefusesWrongCounts) {
  Ask ask{.op = AggregateOp::kTopk, .numbers = {kNaN}};
  EXPECT_THAT(rows(ask, {}), ElementsAre("Parameter value is NaN"));
  ask.numbers = {1e30};
  EXPECT_THAT(rows(ask, totals()), ElementsAre("Scalar value 1e+30 overflows int64"));
  ask.numbers = {kInfinity};
  EXPECT_THAT(rows(ask, totals()), ElementsAre("Scalar value +Inf overflows int64"));
  ask.numbers = {-1e30};  // as all that are less than 1
  EXPECT_THAT(rows(ask, totals()), IsEmpty());
  ask.numbers = {-1e30, 1};
  const Vector input{.rows = {{{}, {1, 1}}}};
  EXPECT_THAT(rows(ask, input), ElementsAre("Scalar value -1e+30 underflows int64"));
  ask.op = AggregateOp::kLimitk;
  EXPECT_EQ(this->ask(ask, input, 2).error().code, Errc::kInvalidArgument);
}

TEST_F(PromqlAggregate, KeepsTheFirstRows) {
  const Vector input{.rows = {{{{"i", "1"}, {"j", "a"}}, {kNone, 1}},
                              {{{"i", "2"}, {"j", "a"}}, {2, 2}},
                              {{{"i", "3"}, {"j", "a"}}, {3, 3}},
                              {{{"i", "1"}, {"j", "b"}}, {4, 4}}}};
  EXPECT_THAT(
      rows({.op = AggregateOp::kLimitk, .grouping = {"j"}, .numbers = {1, 2}}, input),
      ElementsAre(R"({i="1", j="a"} _ 1)", R"({i="2", j="a"} 2 2)", R"({i="1", j="b"} 4 4)"));
  EXPECT_THAT(rows({.op = AggregateOp::kLimitk, .numbers = {0.5, 0}}, input), IsEmpty());
}

TEST_F(PromqlAggregate, KeepsAShareOfRows) {
  Vector input;
  for (int i = 0; i < 200; ++i) {
    input.rows.push_back({{{"i", texts_.keep(std::to_string(i))}}, {1, 1}});
  }
  const Result<Vector> some =
      ask({.op = AggregateOp::kLimitRatio, .numbers = {0.3, -0.7}}, input, 2);
  ASSERT_TRUE(some);
  ASSERT_EQ(some->rows.size(), 200);
  std::size_t kept = 0;
  for (const Row& row : some->rows) {
    EXPECT_NE(is_present(row.values[0]), is_present(row.values[1]));
    kept += is_present(row.values[0]) ? 1 : 0;
  }
  EXPECT_GT(kept, 30);
  EXPECT_LT(kept, 90);
  EXPECT_THAT(annotations_.warnings(), IsEmpty());
  EXPECT_EQ(rows({.op = AggregateOp::kLimitRatio, .numbers = {1.1, -3}}, input).size(), 200);
  EXPECT_THAT(annotations_.warnings(),
              testing::UnorderedElementsAre(
                  HasSubstr("ratio value should be between -1 and 1, got 1.1, capping to 1"),
                  HasSubstr("ratio value should be between -1 and 1, got -3, capping to -1")));
  EXPECT_THAT(rows({.op = AggregateOp::kLimitRatio, .numbers = {0, 0}}, input), IsEmpty());
  EXPECT_THAT(rows({.op = AggregateOp::kLimitRatio, .numbers = {kNaN, 0}}, input),
              ElementsAre("Ratio value is NaN"));
}

TEST_F(PromqlAggregate, CountsValues) {
  const Vector input{.rows = {{{{"__name__", "m"}, {"i", "1"}, {"v", "x"}}, {5, 1e21}},
                              {{{"__name__", "m"}, {"i", "2"}}, {5, kNaN}},
                              {{{"__name__", "m"}, {"i", "3"}}, {-0.5, kNaN}},
                              {{{"__name__", "m"}, {"i", "3"}, {"k", "y"}}, {kNone, kInfinity}}}};
  EXPECT_THAT(
      rows({.op = AggregateOp::kCountValues, .label = "v"}, input),
      testing::UnorderedElementsAre(R"({v="5"} 2 _)", R"({v="1000000000000000000000"} _ 1)",
                                    R"({v="NaN"} _ 2)", R"({v="-0.5"} 1 _)", R"({v="+Inf"} _ 1)"));
  EXPECT_THAT(rows({.op = AggregateOp::kCountValues, .grouping = {"i"}, .label = "i"}, input),
              testing::Contains(R"({i="5"} 2 _)"));
  EXPECT_THAT(rows({.op = AggregateOp::kCountValues, .grouping = {"k"}, .label = "v"}, input),
              testing::Contains(R"({k="y", v="+Inf"} _ 1)"));
  EXPECT_THAT(
      rows({.op = AggregateOp::kCountValues, .grouping = {"i"}, .without = true, .label = "v"},
           input),
      testing::Contains(R"({v="5"} 2 _)"));
  EXPECT_THAT(
      rows({.op = AggregateOp::kCountValues, .grouping = {"i"}, .without = true, .label = "i"},
           input),
      ElementsAre(R"({v="x"} 1 1)", "{} 2 2", R"({k="y"} _ 1)"));
}

TEST_F(PromqlAggregate, RefusesWhatCountValuesCannotName) {
  EXPECT_THAT(rows({.op = AggregateOp::kCountValues, .label = ""}, totals()),
              ElementsAre(R"(invalid label name "")"));
  EXPECT_THAT(rows({.op = AggregateOp::kCountValues, .label = "a\xff"}, totals()),
              ElementsAre(R"(invalid label name "a\xff")"));
  Ask ask{.op = AggregateOp::kCountValues, .label = "v", .values_max = 2};
  EXPECT_EQ(this->ask(ask, totals(), 1).error().code, Errc::kTooLarge);
  ask.values_max = 3;
  EXPECT_TRUE(this->ask(ask, totals(), 1));
}

TEST(PromqlQuantile, InterpolatesBetweenSortedValues) {
  std::vector<double> values{36, 60, 48};
  EXPECT_DOUBLE_EQ(quantile_of(0.3, values), 43.2);
  EXPECT_EQ(quantile_of(0, values), 36);
  EXPECT_EQ(quantile_of(1, values), 60);
  EXPECT_EQ(quantile_of(-1, values), -kInfinity);
  EXPECT_EQ(quantile_of(2, values), kInfinity);
  EXPECT_TRUE(std::isnan(quantile_of(kNaN, values)));
  EXPECT_TRUE(std::isnan(quantile_of(0.5, {})));
  std::vector<double> with_nan{2, kNaN, 4};
  EXPECT_EQ(quantile_of(0.75, with_nan), 3);
}

}  // namespace
}  // namespace halite::query::promql
