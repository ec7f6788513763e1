#include "query/promql/eval/go_text.h"

#include <limits>

#include <gtest/gtest.h>

namespace halite::query::promql {
namespace {

constexpr double kGoInfinity = std::numeric_limits<double>::infinity();
constexpr double kGoNaN = std::numeric_limits<double>::quiet_NaN();

TEST(GoText, HasTheShortestNumbers) {
  EXPECT_EQ(go_number(0), "0");
  EXPECT_EQ(go_number(-0.0), "-0");
  EXPECT_EQ(go_number(-1.5), "-1.5");
  EXPECT_EQ(go_number(0.1), "0.1");
  EXPECT_EQ(go_number(100'000), "100000");
  EXPECT_EQ(go_number(123456.789), "123456.789");
  EXPECT_EQ(go_number(1'000'000), "1e+06");
  EXPECT_EQ(go_number(1'234'567), "1.234567e+06");
  EXPECT_EQ(go_number(0.0001), "0.0001");
  EXPECT_EQ(go_number(0.00001), "1e-05");
  EXPECT_EQ(go_number(1e100), "1e+100");
  EXPECT_EQ(go_number(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
  EXPECT_EQ(go_number(kGoInfinity), "+Inf");
  EXPECT_EQ(go_number(-kGoInfinity), "-Inf");
  EXPECT_EQ(go_number(kGoNaN), "NaN");
}

TEST(GoText, HasNumbersOfSomeDigits) {
  EXPECT_EQ(go_number(0, 2), "0");
  EXPECT_EQ(go_number(2.96, 2), "3");
  EXPECT_EQ(go_number(100'000, 2), "1e+05");
  EXPECT_EQ(go_number(1.5e-7, 2), "1.5e-07");
  EXPECT_EQ(go_number(kGoInfinity, 2), "+Inf");
}

TEST(GoText, HasNumbersWithSixDecimals) {
  EXPECT_EQ(go_fixed(1), "1.000000");
  EXPECT_EQ(go_fixed(-0.1234567), "-0.123457");
  EXPECT_EQ(go_fixed(-kGoInfinity), "-Inf");
}

TEST(GoText, Quotes) {
  EXPECT_EQ(go_quoted(""), R"("")");
  EXPECT_EQ(go_quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(go_quoted("\a\b\t\n\v\f\r\x01\x7f"), R"("\a\b\t\n\v\f\r\x01\x7f")");
  EXPECT_EQ(go_quoted("\xff\xc3"), R"("\xff\xc3")");
  EXPECT_EQ(go_quoted("\xed\xa0\x80"), R"("\xed\xa0\x80")");  // a surrogate
  EXPECT_EQ(go_quoted("\u00e4\U0001F600"), "\"\u00e4\U0001F600\"");
  EXPECT_EQ(go_quoted("\u00a0\u00ad\u2028\ufeff\U000e0001\ue000"),
            R"("\u00a0\u00ad\u2028\ufeff\U000e0001\ue000")");
}

}  // namespace
}  // namespace halite::query::promql
