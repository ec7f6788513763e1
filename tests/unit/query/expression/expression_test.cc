#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/expression/evaluate.h"
#include "query/expression/parser.h"
#include "query/expression/print.h"

namespace halite::query {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const double kNan = std::nan("");

Expression parsed(std::string_view text) {
  auto expression = parse_expression(text, {});
  EXPECT_TRUE(expression) << text << ": " << expression.error().message;
  return expression ? *std::move(expression) : Expression{};
}

std::string expression_refusal(std::string_view text) {
  const auto expression = parse_expression(text, {});
  return expression ? "parsed" : expression.error().message;
}

// The values go to the variables in the order in which they appear.
Result<double> compute(std::string_view text, const std::vector<double>& values) {
  const Expression expression = parsed(text);
  EXPECT_EQ(expression.variables.size(), values.size()) << text;
  return ExpressionRun(expression)(values);
}

double result(std::string_view text, const std::vector<double>& values) {
  const auto computed = compute(text, values);
  EXPECT_TRUE(computed) << text << ": " << computed.error().message;
  return computed.value_or(-12345);
}

TEST(Expression, OperatorsBindAsInJexl) {
  EXPECT_EQ(result("a + b * c", {1, 2, 3}), 7);
  EXPECT_EQ(result("(a + b) * c", {1, 2, 3}), 9);
  EXPECT_EQ(result("a - b - c", {10, 2, 3}), 5);
  EXPECT_EQ(result("a / b % c", {20, 4, 3}), 2);
  EXPECT_EQ(result("-a + b", {1, 5}), 4);
  EXPECT_EQ(result("a + -b", {1, 5}), -4);
  EXPECT_EQ(result("a > b + c", {4, 1, 2}), 1);
  EXPECT_EQ(result("a > b == true", {4, 1}), 1);
  EXPECT_EQ(result("a || b && c", {1, 0, 0}), 1);
  EXPECT_EQ(result("a ? b : c ? d : e", {0, 1, 0, 3, 4}), 4);
}

TEST(Expression, WordsAreOperatorsToo) {
  EXPECT_EQ(result("a eq b", {2, 2}), 1);
  EXPECT_EQ(result("a ne b", {2, 2}), 0);
  EXPECT_EQ(result("a lt b", {1, 2}), 1);
  EXPECT_EQ(result("a le b", {2, 2}), 1);
  EXPECT_EQ(result("a gt b", {1, 2}), 0);
  EXPECT_EQ(result("a ge b", {2, 2}), 1);
  EXPECT_EQ(result("a mod b", {7, 4}), 3);
  EXPECT_EQ(result("a div b", {7, 4}), 1.75);
  EXPECT_EQ(result("a and b", {1, 0}), 0);
  EXPECT_EQ(result("a or b", {1, 0}), 1);
  EXPECT_EQ(result("not a", {0}), 1);
  EXPECT_EQ(parsed("android + order").variables.size(), 2U);
}

TEST(Expression, ZeroDividesToZero) {
  EXPECT_EQ(result("a / 0", {5}), 0);
  EXPECT_EQ(result("a % b", {5, 0}), 0);
  EXPECT_EQ(result("0 / 0 + a", {5}), 5);
}

TEST(Expression, NanIsLessThanAllAndFalse) {
  EXPECT_EQ(result("a > b", {1, kNan}), 1);
  EXPECT_EQ(result("a < b", {kNan, -1}), 1);
  EXPECT_EQ(result("a == b", {kNan, kNan}), 1);
  EXPECT_EQ(result("a ?: b", {kNan, 7}), 7);
  EXPECT_EQ(result("!a", {kNan}), 1);
  EXPECT_TRUE(std::isnan(result("a + b", {kNan, 1})));
}

TEST(Expression, AssignmentsAndScriptsAnswerTheirLastValue) {
  EXPECT_EQ(result("a = b", {1, 2}), 2);
  EXPECT_EQ(result("a = b; a + 1", {1, 2}), 3);
  EXPECT_EQ(result("a;", {4}), 4);
}

TEST(Expression, OnlyNumbersWithSeriesAndBooleansAreAnswers) {
  EXPECT_THAT(compute("a ^ b", {1, 2}).error().message,
              StartsWith("Expression returned a result of type: java.lang.Long"));
  EXPECT_THAT(compute("a > b ? 1 : 2", {1, 2}).error().message,
              StartsWith("Expression returned a result of type: java.lang.Long"));
  EXPECT_THAT(compute("a ? null : a", {1}).error().message, HasSubstr("type: null"));
  EXPECT_EQ(result("a > b ? a * 0 + 1 : b", {3, 2}), 1);
}

TEST(Expression, BooleansHaveNoArithmetic) {
  EXPECT_EQ(compute("(a > 100) + (b > 100)", {1, 2}).error().message,
            "net.opentsdb.query.expression.ExpressionIterator.<init>@148![0,21]: "
            "'(a > 100) + (b > 100);' +/- error");
  EXPECT_EQ(compute("a + (a > 1)", {1}).error().message, "Boolean->Double coercion exception");
  EXPECT_FALSE(compute("-(a > 1)", {1}));
}

TEST(Expression, WholeNumbersStayExactUntilTheyDoNotFit) {
  EXPECT_EQ(result("7 / 2 + a", {0}), 3);
  EXPECT_EQ(result("9223372036854775807 + 1 + a", {0}), 0x1p63);
  EXPECT_EQ(result("1.5e1 + a", {0}), 15);
  EXPECT_EQ(result("1.5f + 2d + a", {0}), 3.5);
}

TEST(Expression, FaultsAreToldInJexlsWords) {
  EXPECT_EQ(expression_refusal("a +"),
            "net.opentsdb.query.pojo.Expression.validate@1:3 parsing error in 'a +'");
  EXPECT_EQ(expression_refusal("a ** b"),
            "net.opentsdb.query.pojo.Expression.validate@1:4 parsing error in 'a ** b'");
  EXPECT_EQ(expression_refusal("a b"), "b@1:3 parsing error near '... Ambiguous sta ...'");
  EXPECT_THAT(expression_refusal("a # b"), HasSubstr("@1:3 tokenization error in 'a # b'"));
  EXPECT_THAT(expression_refusal("aaaa + bbbb ** cccc"),
              HasSubstr("@1:14 parsing error near '... "));
  for (const char* const text : {"", "  ", "a < b < c", "a == b == c", "(a", "a)", "a ? b", "1 = a",
                                 "a ?", "* a", ";", "a,b", "a..b"}) {
    EXPECT_NE(expression_refusal(text), "parsed") << text;
  }
  EXPECT_THAT(expression_refusal("sum(a,b)"), HasSubstr("no functions"));
}

TEST(Expression, LimitsHoldAtTheirMaximum) {
  ExpressionLimits limits{.bytes_max = 5, .depth_max = 64};
  EXPECT_TRUE(parse_expression("a + b", limits));
  EXPECT_EQ(parse_expression("a + bb", limits).error().code, Errc::kTooLarge);
  limits = {};
  const std::string deep = std::string(1000, '(') + "a" + std::string(1000, ')');
  EXPECT_EQ(parse_expression(deep, limits).error().code, Errc::kTooLarge);
  EXPECT_EQ(parse_expression(std::string(1000, '-') + "a", limits).error().code, Errc::kTooLarge);
  std::string longest = "a";
  while (longest.size() + 2 <= limits.bytes_max) longest += "+a";
  const std::size_t terms = (longest.size() + 1) / 2;
  EXPECT_EQ(result(longest, {1}), static_cast<double>(terms));
}

TEST(Expression, VariablesAreNamedOnceInOrder) {
  EXPECT_THAT(parsed("b + a * b - true").variables, ElementsAre("b", "a"));
  EXPECT_THAT(parsed("1 + 1").variables, ElementsAre());
}

TEST(Expression, PrintsAsJexl) {
  EXPECT_EQ(print_expression(parsed("a  and not(b lt 1)")).text, "a && !(b < 1);");
  EXPECT_EQ(print_expression(parsed("a?b:-c")).text, "a ? b : -c;");
  EXPECT_EQ(print_expression(parsed("a=b?:c")).text, "a = b ?: c;");
}

}  // namespace
}  // namespace halite::query
