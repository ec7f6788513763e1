#include "query/promql/number_text.h"

#include <limits>

#include <gtest/gtest.h>

namespace halite::query::promql {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(PromqlNumberText, HasAnExponentWhereGoWritesOne) {
  EXPECT_EQ(general_text(0), "0");
  EXPECT_EQ(general_text(-0.0), "-0");
  EXPECT_EQ(general_text(1.5), "1.5");
  EXPECT_EQ(general_text(-0.0001), "-0.0001");
  EXPECT_EQ(general_text(0.00001), "1e-05");
  EXPECT_EQ(general_text(123456), "123456");
  EXPECT_EQ(general_text(1e6), "1e+06");
  EXPECT_EQ(general_text(1234567.5), "1.2345675e+06");
  EXPECT_EQ(general_text(1e100), "1e+100");
}

TEST(PromqlNumberText, HasNoExponentInLabels) {
  EXPECT_EQ(fixed_text(0), "0");
  EXPECT_EQ(fixed_text(-12.25), "-12.25");
  EXPECT_EQ(fixed_text(1e21), "1000000000000000000000");
  EXPECT_EQ(fixed_text(1e23), "100000000000000000000000");
  EXPECT_EQ(fixed_text(120), "120");
  EXPECT_EQ(fixed_text(1e-7), "0.0000001");
  EXPECT_EQ(fixed_text(1.25e-7), "0.000000125");
}

TEST(PromqlNumberText, NamesWhatIsNotFinite) {
  EXPECT_EQ(general_text(kInf), "+Inf");
  EXPECT_EQ(fixed_text(-kInf), "-Inf");
  EXPECT_EQ(fixed_text(std::numeric_limits<double>::quiet_NaN()), "NaN");
}

TEST(NumberText, HasSomeDigits) {
  EXPECT_EQ(rounded_text(0, 2), "0");
  EXPECT_EQ(rounded_text(2.96, 2), "3");
  EXPECT_EQ(rounded_text(100'000, 2), "1e+05");
  EXPECT_EQ(rounded_text(1.5e-7, 2), "1.5e-07");
  EXPECT_EQ(rounded_text(kInf, 2), "+Inf");
}

TEST(NumberText, HasSixDecimals) {
  EXPECT_EQ(six_decimals(1), "1.000000");
  EXPECT_EQ(six_decimals(-0.1234567), "-0.123457");
  EXPECT_EQ(six_decimals(-kInf), "-Inf");
}

}  // namespace
}  // namespace halite::query::promql
