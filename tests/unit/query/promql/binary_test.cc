#include "query/promql/eval/binary.h"

#include <cmath>
#include <limits>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/query_budget.h"
#include "tests/unit/query/promql/columns.h"

namespace halite::query::promql {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr auto kOnRight = MatchCardinality::kManyToOne;  // group_left: the one side
constexpr auto kOnLeft = MatchCardinality::kOneToMany;   // group_right

struct Ask {
  BinaryOp op = BinaryOp::kAdd;
  bool returns_bool = false;
  MatchCardinality cardinality = MatchCardinality::kOneToOne;
  std::optional<std::vector<std::string>> on = {};
  std::vector<std::string> ignoring = {};
  std::vector<std::string> include = {};
  std::optional<double> fill_left = {};
  std::optional<double> fill_right = {};
};

class PromqlBinary : public testing::Test {
 protected:
  Result<Value> ask(const Ask& ask, Value left, Value right, std::size_t steps) {
    Binary binary;
    binary.op = ask.op;
    binary.returns_bool = ask.returns_bool;
    binary.matching = {.cardinality = ask.cardinality,
                       .labels = ask.on.value_or(ask.ignoring),
                       .on = ask.on.has_value(),
                       .include = ask.include,
                       .fill_left = ask.fill_left,
                       .fill_right = ask.fill_right};
    return evaluate_binary(binary, std::move(left), std::move(right), {.count = steps}, {}, texts_,
                           annotations_, budget_);
  }
  // The rows of the result, or the error's message.
  std::vector<std::string> rows(const Ask& to_ask, Value left, Value right, std::size_t steps = 1) {
    const Result<Value> result = ask(to_ask, std::move(left), std::move(right), steps);
    if (!result) {
      EXPECT_EQ(result.error().code, Errc::kInvalidArgument);
      return {result.error().message};
    }
    return rows_of(std::get<Vector>(*result));
  }
  double number(BinaryOp op, double left, double right) {
    const Result<Value> result =
        ask({.op = op, .returns_bool = is_comparison(op)}, Scalar{{left}}, Scalar{{right}}, 1);
    return std::get<Scalar>(result.value()).values.front();
  }

  TextArena texts_;
  Annotations annotations_{"a </ b"};
  FakeClock clock_{0};
  QueryBudget budget_{{.bytes_max = 1 << 20}, clock_, {}};
};

Vector totals() {
  return {.rows = {{{{"__name__", "r"}, {"i", "1"}, {"j", "a"}}, {35}},
                   {{{"__name__", "r"}, {"i", "2"}, {"j", "a"}}, {72}},
                   {{{"__name__", "r"}, {"i", "1"}, {"j", "b"}}, {130}}}};
}
Vector limits() {
  return {
      .rows = {{{{"__name__", "lim"}, {"j", "a"}}, {5}}, {{{"__name__", "lim"}, {"j", "c"}}, {9}}}};
}
Vector owners() {
  return {.rows = {{{{"__name__", "own"}, {"j", "a"}, {"team", "x"}}, {1}},
                   {{{"__name__", "own"}, {"j", "b"}, {"team", "y"}}, {1}}}};
}

TEST_F(PromqlBinary, ComputesScalars) {
  EXPECT_EQ(number(BinaryOp::kAdd, 1, 2), 3);
  EXPECT_EQ(number(BinaryOp::kSubtract, 1, 2), -1);
  EXPECT_EQ(number(BinaryOp::kMultiply, 3, 2), 6);
  EXPECT_EQ(number(BinaryOp::kDivide, 1, 0), kInfinity);
  EXPECT_TRUE(std::isnan(number(BinaryOp::kDivide, 0, 0)));
  EXPECT_EQ(number(BinaryOp::kModulo, -7, 3), -1);
  EXPECT_EQ(number(BinaryOp::kPower, 2, 9), 512);
  EXPECT_EQ(number(BinaryOp::kAtan2, 0, 1), 0);
  EXPECT_EQ(number(BinaryOp::kLess, 1, 2), 1);
  EXPECT_EQ(number(BinaryOp::kGreaterEqual, 1, 2), 0);
  EXPECT_EQ(number(BinaryOp::kEqual, kNaN, kNaN), 0);
  EXPECT_EQ(number(BinaryOp::kNotEqual, kNaN, kNaN), 1);
  const Result<Value> steps = ask({}, Scalar{{1, 2}}, Scalar{{10, 20}}, 2);
  EXPECT_THAT(std::get<Scalar>(*steps).values, ElementsAre(11, 22));
  EXPECT_EQ(ask({.op = BinaryOp::kTrimUpper}, Scalar{{1}}, Scalar{{1}}, 1).error().message,
            "operator \"</\" not allowed for Scalar operations");
}

TEST_F(PromqlBinary, ComputesVectorsWithScalars) {
  const Vector vector{.rows = {{{{"__name__", "g"}, {"j", "a"}}, {3, kNone, -1, kNaN}}}};
  const Scalar two{{2, 2, 2, 2}};
  EXPECT_THAT(rows({}, vector, two, 4), ElementsAre(R"({j="a"} 5 _ 1 NaN)"));
  EXPECT_THAT(rows({.op = BinaryOp::kSubtract}, two, vector, 4),
              ElementsAre(R"({j="a"} -1 _ 3 NaN)"));
  EXPECT_THAT(rows({.op = BinaryOp::kPower}, vector, two, 4), ElementsAre(R"({j="a"} 9 _ 1 NaN)"));
  EXPECT_THAT(rows({.op = BinaryOp::kGreater}, vector, two, 4),
              ElementsAre(R"({__name__="g", j="a"} 3 _ _ _)"));
  EXPECT_THAT(rows({.op = BinaryOp::kLess}, two, vector, 4),
              ElementsAre(R"({__name__="g", j="a"} 3 _ _ _)"));
  EXPECT_THAT(rows({.op = BinaryOp::kNotEqual}, vector, two, 4),
              ElementsAre(R"({__name__="g", j="a"} 3 _ -1 NaN)"));
  EXPECT_THAT(rows({.op = BinaryOp::kNotEqual, .returns_bool = true}, vector, two, 4),
              ElementsAre(R"({j="a"} 1 _ 1 1)"));
  EXPECT_THAT(rows({.op = BinaryOp::kEqual}, vector, two, 4), IsEmpty());
  EXPECT_THAT(rows({}, Vector{}, two, 4), IsEmpty());
}

TEST_F(PromqlBinary, KeepsTheOrderOfAVectorWithAScalar) {
  Vector vector = totals();
  vector.ordered = true;
  const Result<Value> result = ask({}, std::move(vector), Scalar{{1}}, 1);
  EXPECT_TRUE(std::get<Vector>(*result).ordered);
}

TEST_F(PromqlBinary, MergesRowsThatDifferedInTheNameOnly) {
  Vector vector{.rows = {{{{"__name__", "f"}, {"j", "a"}}, {1, kNone}},
                         {{{"__name__", "g"}, {"j", "a"}}, {kNone, 2}}}};
  const Scalar ten{{10, 10}};
  EXPECT_THAT(rows({}, vector, ten, 2), ElementsAre(R"({j="a"} 11 12)"));
  vector.rows[1].values[0] = 3;
  EXPECT_THAT(rows({}, vector, ten, 2),
              ElementsAre("vector cannot contain metrics with the same labelset"));
  EXPECT_EQ(rows({.op = BinaryOp::kGreater}, vector, Scalar{{0, 0}}, 2).size(), 2);
}

TEST_F(PromqlBinary, TrimsNoNumbers) {
  EXPECT_THAT(rows({.op = BinaryOp::kTrimUpper}, Vector{}, Scalar{{1}}), IsEmpty());
  EXPECT_THAT(rows({.op = BinaryOp::kTrimUpper}, limits(), owners()), IsEmpty());
  EXPECT_THAT(annotations_.infos(), IsEmpty());
  EXPECT_THAT(rows({.op = BinaryOp::kTrimUpper}, totals(), Scalar{{1}}), IsEmpty());
  EXPECT_THAT(rows({.op = BinaryOp::kTrimLower}, limits(), limits()), IsEmpty());
  EXPECT_THAT(
      annotations_.infos(),
      UnorderedElementsAre(HasSubstr("incompatible sample types encountered for binary operator "
                                     "\"</\": float </ float"),
                           HasSubstr("incompatible sample types encountered for binary operator "
                                     "\">/\": float >/ float")));
}

TEST_F(PromqlBinary, MatchesOneToOne) {
  EXPECT_THAT(rows({}, limits(), limits()), ElementsAre(R"({j="a"} 10)", R"({j="c"} 18)"));
  EXPECT_THAT(rows({.op = BinaryOp::kSubtract, .on = {{"j"}}}, limits(), owners()),
              ElementsAre(R"({j="a"} 4)"));
  EXPECT_THAT(rows({.op = BinaryOp::kSubtract, .ignoring = {"team"}}, owners(), limits()),
              ElementsAre(R"({j="a"} -4)"));
  EXPECT_THAT(rows({.op = BinaryOp::kGreater, .ignoring = {"team"}}, limits(), owners()),
              ElementsAre(R"({__name__="lim", j="a"} 5)"));
  EXPECT_THAT(rows({.op = BinaryOp::kGreater, .on = {{"j"}}}, limits(), owners()),
              ElementsAre(R"({j="a"} 5)"));
  EXPECT_THAT(
      rows({.op = BinaryOp::kGreater, .returns_bool = true, .on = {{"j"}}}, limits(), owners()),
      ElementsAre(R"({j="a"} 1)"));
  EXPECT_THAT(
      rows({.op = BinaryOp::kLess, .returns_bool = true, .on = {{"j"}}}, limits(), owners()),
      ElementsAre(R"({j="a"} 0)"));
  EXPECT_THAT(rows({}, limits(), Vector{}), IsEmpty());
  EXPECT_THAT(rows({}, limits(), owners()), IsEmpty());
}

TEST_F(PromqlBinary, MatchesEachStepByItself) {
  const Vector left{.rows = {{{{"j", "a"}}, {1, 2, kNone, 4}}, {{{"j", "b"}}, {1, 1, 1, 1}}}};
  const Vector right{.rows = {{{{"j", "a"}}, {10, kNone, 30, kNaN}}}};
  EXPECT_THAT(rows({}, left, right, 4), ElementsAre(R"({j="a"} 11 _ _ NaN)"));
  EXPECT_THAT(rows({.op = BinaryOp::kLess}, left, right, 4), ElementsAre(R"({j="a"} 1 _ _ _)"));
}

TEST_F(PromqlBinary, JoinsRowsThatTakeTurns) {
  const Vector left{
      .rows = {{{{"i", "1"}, {"j", "a"}}, {1, kNone}}, {{{"i", "2"}, {"j", "a"}}, {kNone, 2}}}};
  const Vector right{
      .rows = {{{{"j", "a"}, {"k", "1"}}, {kNone, 20}}, {{{"j", "a"}, {"k", "2"}}, {10, kNone}}}};
  EXPECT_THAT(rows({.on = {{"j"}}}, left, right, 2), ElementsAre(R"({j="a"} 11 22)"));
  EXPECT_THAT(rows({.ignoring = {"i", "k"}}, left, right, 2), ElementsAre(R"({j="a"} 11 22)"));
  EXPECT_THAT(
      rows({.cardinality = kOnRight, .on = {{"j"}}, .include = {"k"}}, left, right, 2),
      UnorderedElementsAre(R"({i="1", j="a", k="2"} 11 _)", R"({i="2", j="a", k="1"} _ 22)"));
}

TEST_F(PromqlBinary, RefusesRightRowsWithEqualSignatures) {
  const std::string found =
      "found duplicate series for the match group {} on the right hand-side of the operation: "
      "[{__name__=\"lim\", j=\"a\"}, {__name__=\"lim\", j=\"c\"}];many-to-many matching not "
      "allowed: matching labels must be unique on one side";
  EXPECT_THAT(rows({.on = {{"no"}}}, owners(), limits()), ElementsAre(found));
  EXPECT_THAT(rows({.on = {{"no"}}}, Vector{}, limits()), IsEmpty());
  EXPECT_THAT(rows({.cardinality = kOnLeft, .on = {{"j"}}}, totals(), limits()),
              ElementsAre("found duplicate series for the match group {j=\"a\"} on the left "
                          "hand-side of the operation: [{__name__=\"r\", i=\"1\", j=\"a\"}, "
                          "{__name__=\"r\", i=\"2\", j=\"a\"}];many-to-many matching not allowed: "
                          "matching labels must be unique on one side"));
}

TEST_F(PromqlBinary, AllowsEqualSignaturesWhereNothingMatches) {
  const Vector right{
      .rows = {{{{"j", "a"}, {"k", "1"}}, {10, 10}}, {{{"j", "a"}, {"k", "2"}}, {10, kNone}}}};
  Vector left{.rows = {{{{"j", "z"}}, {kNone, 1}}}};
  EXPECT_THAT(rows({.on = {{"j"}}}, left, right, 2), IsEmpty());
  left.rows[0].values[0] = 1;  // no partner, but the sides are both there
  EXPECT_THAT(rows({.on = {{"j"}}}, left, right, 2),
              ElementsAre(HasSubstr("found duplicate series for the match group {j=\"a\"}")));
}

TEST_F(PromqlBinary, RefusesLeftRowsThatMatchTheSame) {
  EXPECT_THAT(rows({.ignoring = {"i"}}, totals(), limits()),
              ElementsAre("multiple matches for labels: many-to-one matching must be explicit "
                          "(group_left/group_right)"));
  // Even if a comparison keeps neither.
  EXPECT_THAT(rows({.op = BinaryOp::kLess, .ignoring = {"i"}}, totals(), limits()),
              ElementsAre(HasSubstr("many-to-one matching must be explicit")));
  // Without a partner it is none of them.
  EXPECT_THAT(rows({.ignoring = {"i"}}, totals(), Vector{.rows = {{{{"j", "b"}}, {1}}}}),
              ElementsAre(R"({j="b"} 131)"));
}

TEST_F(PromqlBinary, TellsOfDuplicatesFirst) {
  const Vector left{
      .rows = {{{{"i", "1"}, {"j", "a"}}, {1, 1}}, {{{"i", "2"}, {"j", "a"}}, {1, 1}}}};
  Vector right{
      .rows = {{{{"j", "a"}, {"k", "1"}}, {10, 10}}, {{{"j", "a"}, {"k", "2"}}, {kNone, 10}}}};
  EXPECT_THAT(rows({.on = {{"j"}}}, left, right, 2),
              ElementsAre(HasSubstr("found duplicate series")));
  right.rows.pop_back();
  EXPECT_THAT(rows({.on = {{"j"}}}, left, right, 2),
              ElementsAre(HasSubstr("many-to-one matching must be explicit")));
}

TEST_F(PromqlBinary, MatchesManyToOne) {
  EXPECT_THAT(
      rows({.op = BinaryOp::kDivide, .cardinality = kOnRight, .on = {{"j"}}}, totals(), limits()),
      ElementsAre(R"({i="1", j="a"} 7)", R"({i="2", j="a"} 14.4)"));
  EXPECT_THAT(
      rows({.op = BinaryOp::kMultiply, .cardinality = kOnRight, .on = {{"j"}}, .include = {"team"}},
           totals(), owners()),
      ElementsAre(R"({i="1", j="a", team="x"} 35)", R"({i="2", j="a", team="x"} 72)",
                  R"({i="1", j="b", team="y"} 130)"));
  EXPECT_THAT(rows({.op = BinaryOp::kGreater, .cardinality = kOnRight, .on = {{"j"}}}, totals(),
                   Vector{.rows = {{{{"j", "a"}}, {50}}}}),
              ElementsAre(R"({__name__="r", i="2", j="a"} 72)"));
}

TEST_F(PromqlBinary, MatchesOneToMany) {
  EXPECT_THAT(
      rows({.op = BinaryOp::kSubtract, .cardinality = kOnLeft, .on = {{"j"}}}, limits(), totals()),
      ElementsAre(R"({i="1", j="a"} -30)", R"({i="2", j="a"} -67)"));
  // A comparison keeps the left value, with the labels of the many.
  EXPECT_THAT(
      rows({.op = BinaryOp::kLess, .cardinality = kOnLeft, .on = {{"j"}}}, limits(), totals()),
      ElementsAre(R"({__name__="r", i="1", j="a"} 5)", R"({__name__="r", i="2", j="a"} 5)"));
}

TEST_F(PromqlBinary, RemovesIncludedLabelsThatTheOneSideLacks) {
  EXPECT_THAT(
      rows({.cardinality = kOnRight, .on = {{"j"}}, .include = {"team"}}, owners(), limits()),
      ElementsAre(R"({j="a"} 6)"));
}

TEST_F(PromqlBinary, RefusesManyRowsWithEqualResults) {
  const std::string message =
      "multiple matches for labels: grouping labels must ensure unique matches";
  const Vector one{.rows = {{{{"j", "a"}}, {50}}}};
  const Ask ask{.cardinality = kOnRight, .on = {{"j"}}, .include = {"i"}};
  EXPECT_THAT(rows(ask, totals(), one), ElementsAre(message));
  Ask comparison = ask;
  comparison.op = BinaryOp::kGreater;  // keeps only one of them
  EXPECT_THAT(rows(comparison, totals(), one), ElementsAre(message));
  const Vector named{
      .rows = {{{{"__name__", "f"}, {"j", "a"}}, {1}}, {{{"__name__", "g"}, {"j", "a"}}, {2}}}};
  EXPECT_THAT(rows({.cardinality = kOnRight, .on = {{"j"}}}, named, one), ElementsAre(message));
  EXPECT_EQ(
      rows({.op = BinaryOp::kLess, .cardinality = kOnRight, .on = {{"j"}}}, named, one).size(), 2);
}

TEST_F(PromqlBinary, RefusesEqualLabelsOfDifferentSignatures) {
  const Vector left{
      .rows = {{{{"__name__", "f"}, {"j", "a"}}, {1}}, {{{"__name__", "g"}, {"j", "a"}}, {2}}}};
  EXPECT_THAT(rows({.on = {{"__name__", "j"}}}, left, left),
              ElementsAre("vector cannot contain metrics with the same labelset"));
  EXPECT_THAT(rows({.op = BinaryOp::kEqual, .on = {{"__name__", "j"}}}, left, left),
              ElementsAre(R"({__name__="f", j="a"} 1)", R"({__name__="g", j="a"} 2)"));
}

TEST_F(PromqlBinary, FillsMissingPartners) {
  const Ask right{.fill_right = 100};
  const Ask left{.fill_left = 100};
  const Ask both{.op = BinaryOp::kSubtract, .fill_left = 100, .fill_right = 200};
  const Vector a{
      .rows = {{{{"__name__", "f"}, {"j", "a"}}, {1, 2, kNone}}, {{{"j", "b"}}, {3, 3, 3}}}};
  const Vector b{
      .rows = {{{{"__name__", "g"}, {"j", "a"}}, {10, kNone, 30}}, {{{"j", "c"}}, {5, kNone, 5}}}};
  EXPECT_THAT(rows(right, a, b, 3),
              UnorderedElementsAre(R"({j="a"} 11 102 _)", R"({j="b"} 103 103 103)"));
  EXPECT_THAT(rows(left, a, b, 3),
              UnorderedElementsAre(R"({j="a"} 11 _ 130)", R"({j="c"} 105 _ 105)"));
  EXPECT_THAT(rows(both, a, b, 3),
              UnorderedElementsAre(R"({j="a"} -9 -198 70)", R"({j="b"} -197 -197 -197)",
                                   R"({j="c"} 95 _ 95)"));
  EXPECT_THAT(rows(right, a, Vector{}, 3),
              UnorderedElementsAre(R"({j="a"} 101 102 _)", R"({j="b"} 103 103 103)"));
  EXPECT_THAT(rows(left, Vector{}, b, 3),
              UnorderedElementsAre(R"({j="a"} 110 _ 130)", R"({j="c"} 105 _ 105)"));
  EXPECT_THAT(rows(both, Vector{}, Vector{}, 3), IsEmpty());
}

// As Prometheus: fill_right is of the one side, also with group_right.
TEST_F(PromqlBinary, FillsOneAndMany) {
  const Vector many{.rows = {{{{"cpu", "0"}, {"i", "a"}}, {1}},
                             {{{"cpu", "1"}, {"i", "a"}}, {1}},
                             {{{"cpu", "0"}, {"i", "b"}}, {1}}}};
  const Vector one{.rows = {{{{"i", "a"}}, {100}}, {{{"i", "c"}}, {300}}}};
  Ask ask{.op = BinaryOp::kMultiply, .cardinality = kOnLeft, .on = {{"i"}}, .fill_left = 1};
  EXPECT_THAT(
      rows(ask, one, many),
      UnorderedElementsAre(R"({cpu="0", i="a"} 100)", R"({cpu="1", i="a"} 100)", R"({i="c"} 300)"));
  ask.fill_left.reset();
  ask.fill_right = 0;
  EXPECT_THAT(rows(ask, one, many),
              UnorderedElementsAre(R"({cpu="0", i="a"} 100)", R"({cpu="1", i="a"} 100)",
                                   R"({cpu="0", i="b"} 0)"));
}

TEST_F(PromqlBinary, HasSetOperators) {
  EXPECT_THAT(rows({.op = BinaryOp::kAnd, .ignoring = {"team"}}, limits(), owners()),
              ElementsAre(R"({__name__="lim", j="a"} 5)"));
  EXPECT_THAT(rows({.op = BinaryOp::kUnless, .on = {{"j"}}}, owners(), limits()),
              ElementsAre(R"({__name__="own", j="b", team="y"} 1)"));
  EXPECT_THAT(rows({.op = BinaryOp::kOr, .on = {{"j"}}}, limits(), owners()),
              ElementsAre(R"({__name__="lim", j="a"} 5)", R"({__name__="lim", j="c"} 9)",
                          R"({__name__="own", j="b", team="y"} 1)"));
  EXPECT_THAT(rows({.op = BinaryOp::kOr, .on = std::vector<std::string>()}, limits(), owners()),
              ElementsAre(R"({__name__="lim", j="a"} 5)", R"({__name__="lim", j="c"} 9)"));
  EXPECT_THAT(rows({.op = BinaryOp::kAnd, .on = std::vector<std::string>()}, limits(), owners()),
              ElementsAre(R"({__name__="lim", j="a"} 5)", R"({__name__="lim", j="c"} 9)"));
}

TEST_F(PromqlBinary, HasSetOperatorsOfNothing) {
  EXPECT_THAT(rows({.op = BinaryOp::kAnd}, limits(), Vector{}), IsEmpty());
  EXPECT_THAT(rows({.op = BinaryOp::kAnd}, Vector{}, limits()), IsEmpty());
  EXPECT_EQ(rows({.op = BinaryOp::kUnless}, limits(), Vector{}).size(), 2);
  EXPECT_THAT(rows({.op = BinaryOp::kUnless}, Vector{}, limits()), IsEmpty());
  EXPECT_EQ(rows({.op = BinaryOp::kOr}, limits(), Vector{}).size(), 2);
  EXPECT_EQ(rows({.op = BinaryOp::kOr}, Vector{}, limits()).size(), 2);
}

TEST_F(PromqlBinary, HasSetOperatorsAtEachStep) {
  const Vector left{.rows = {{{{"j", "a"}}, {1, kNone, 3, 4}}}};
  const Vector right{.rows = {{{{"j", "a"}, {"k", "1"}}, {10, 20, kNone, kNone}},
                              {{{"j", "a"}, {"k", "2"}}, {kNone, 20, 30, kNone}}}};
  EXPECT_THAT(rows({.op = BinaryOp::kAnd, .on = {{"j"}}}, left, right, 4),
              ElementsAre(R"({j="a"} 1 _ 3 _)"));
  EXPECT_THAT(rows({.op = BinaryOp::kUnless, .on = {{"j"}}}, left, right, 4),
              ElementsAre(R"({j="a"} _ _ _ 4)"));
  EXPECT_THAT(rows({.op = BinaryOp::kOr, .on = {{"j"}}}, left, right, 4),
              ElementsAre(R"({j="a"} 1 _ 3 4)", R"({j="a", k="1"} _ 20 _ _)",
                          R"({j="a", k="2"} _ 20 _ _)"));
  EXPECT_THAT(
      rows({.op = BinaryOp::kOr}, left, Vector{.rows = {{{{"j", "a"}}, {9, 9, 9, kNone}}}}, 4),
      ElementsAre(R"({j="a"} 1 9 3 4)"));
}

}  // namespace
}  // namespace halite::query::promql
