#include "query/promql/eval/go_text.h"

#include <limits>

#include <gtest/gtest.h>

namespace halite::query::promql {
namespace {

constexpr double kGoInfinity = std::numeric_limits<double>::infinity();

TEST(GoText, HasNumbersOfSomeDigits) {
  EXPECT_EQ(rounded_text(0, 2), "0");
  EXPECT_EQ(rounded_text(2.96, 2), "3");
  EXPECT_EQ(rounded_text(100'000, 2), "1e+05");
  EXPECT_EQ(rounded_text(1.5e-7, 2), "1.5e-07");
  EXPECT_EQ(rounded_text(kGoInfinity, 2), "+Inf");
}

TEST(GoText, HasNumbersWithSixDecimals) {
  EXPECT_EQ(six_decimals(1), "1.000000");
  EXPECT_EQ(six_decimals(-0.1234567), "-0.123457");
  EXPECT_EQ(six_decimals(-kGoInfinity), "-Inf");
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
