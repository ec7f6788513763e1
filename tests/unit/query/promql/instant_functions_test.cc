#include "query/promql/eval/instant_functions.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::query::promql {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsNan;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

double applied(std::string_view name, double value, const std::vector<double>& parameters = {}) {
  const InstantFunction* const function = find_instant_function(name);
  if (function == nullptr) {
    ADD_FAILURE() << name << " is no function";
    return kAbsent;
  }
  return function->evaluate(value, parameters);
}

TEST(InstantFunctions, AreFoundByName) {
  for (const char* name : {"timestamp", "scalar", "ABS", "", "sort"}) {
    EXPECT_EQ(find_instant_function(name), nullptr) << name;
  }
}

TEST(InstantFunctions, ComputeAsTheLibraryOfC) {
  EXPECT_EQ(applied("abs", -2), 2);
  EXPECT_EQ(applied("ceil", -1.5), -1);
  EXPECT_EQ(applied("floor", -1.5), -2);
  EXPECT_EQ(applied("exp", 1), std::exp(1));
  EXPECT_EQ(applied("ln", 0), -kInfinite);
  EXPECT_THAT(applied("ln", -1), IsNan());
  EXPECT_EQ(applied("log2", 8), 3);
  EXPECT_EQ(applied("log10", 1000), 3);
  EXPECT_EQ(applied("sqrt", 9), 3);
  EXPECT_THAT(applied("sqrt", -1), IsNan());
  EXPECT_EQ(applied("sin", 1), std::sin(1));
  EXPECT_EQ(applied("cos", 1), std::cos(1));
  EXPECT_EQ(applied("tan", 1), std::tan(1));
  EXPECT_EQ(applied("asin", 0.5), std::asin(0.5));
  EXPECT_EQ(applied("acos", 0.5), std::acos(0.5));
  EXPECT_EQ(applied("atan", 0.5), std::atan(0.5));
  EXPECT_EQ(applied("sinh", 1), std::sinh(1));
  EXPECT_EQ(applied("cosh", 1), std::cosh(1));
  EXPECT_EQ(applied("tanh", 1), std::tanh(1));
  EXPECT_EQ(applied("asinh", 1), std::asinh(1));
  EXPECT_EQ(applied("acosh", 2), std::acosh(2));
  EXPECT_EQ(applied("atanh", 0.5), std::atanh(0.5));
  EXPECT_THAT(applied("deg", std::numbers::pi), DoubleEq(180));
  EXPECT_THAT(applied("rad", 180), DoubleEq(std::numbers::pi));
}

TEST(InstantFunctions, SignOfNothingStays) {
  EXPECT_EQ(applied("sgn", -0.5), -1);
  EXPECT_EQ(applied("sgn", kInfinite), 1);
  EXPECT_TRUE(std::signbit(applied("sgn", -0.0)));
  EXPECT_THAT(applied("sgn", kNoNumber), IsNan());
}

TEST(Round, RoundsTiesUp) {
  EXPECT_EQ(applied("round", 2.5), 3);
  EXPECT_EQ(applied("round", -2.5), -2);
  EXPECT_EQ(applied("round", -2.5, {2}), -2);
  EXPECT_EQ(applied("round", 7, {5}), 5);
  EXPECT_EQ(applied("round", 0.35, {0.1}), std::floor(0.35 * 10 + 0.5) / 10);
  EXPECT_THAT(applied("round", 1, {0}), IsNan());
}

TEST(Clamp, HasTheLimitsOfGo) {
  EXPECT_EQ(applied("clamp", 5, {0, 3}), 3);
  EXPECT_EQ(applied("clamp", -5, {0, 3}), 0);
  EXPECT_EQ(applied("clamp", 2, {0, 3}), 2);
  EXPECT_TRUE(is_absent(applied("clamp", 2, {3, 0})));
  EXPECT_THAT(applied("clamp", 2, {kNoNumber, 3}), IsNan());
  EXPECT_THAT(applied("clamp", 2, {0, kNoNumber}), IsNan());
  EXPECT_THAT(applied("clamp", kNoNumber, {0, 3}), IsNan());
  EXPECT_EQ(applied("clamp_max", 5, {3}), 3);
  EXPECT_EQ(applied("clamp_min", 5, {7}), 7);
  EXPECT_THAT(applied("clamp_max", 5, {kNoNumber}), IsNan());
  EXPECT_THAT(applied("clamp_min", kNoNumber, {1}), IsNan());
  EXPECT_EQ(applied("clamp_min", kNoNumber, {kInfinite}), kInfinite);
  EXPECT_EQ(applied("clamp_max", kNoNumber, {-kInfinite}), -kInfinite);
  EXPECT_FALSE(std::signbit(applied("clamp_min", -0.0, {0})));
}

// year, month, day, hour, minute, day of the week, day of the year, days of the month
std::vector<double> date_of(double value) {
  std::vector<double> date;
  for (const char* name : {"year", "month", "day_of_month", "hour", "minute", "day_of_week",
                           "day_of_year", "days_in_month"}) {
    date.push_back(applied(name, value));
  }
  return date;
}

TEST(Dates, AreThoseOfUtc) {
  EXPECT_THAT(date_of(0), ElementsAre(1970, 1, 1, 0, 0, 4, 1, 31));
  EXPECT_THAT(date_of(1e9), ElementsAre(2001, 9, 9, 1, 46, 0, 252, 30));
  EXPECT_THAT(date_of(1.999), ElementsAre(1970, 1, 1, 0, 0, 4, 1, 31));
  EXPECT_THAT(date_of(-0.5), ElementsAre(1970, 1, 1, 0, 0, 4, 1, 31));
  EXPECT_THAT(date_of(-1), ElementsAre(1969, 12, 31, 23, 59, 3, 365, 31));
  EXPECT_THAT(date_of(-86401), ElementsAre(1969, 12, 30, 23, 59, 2, 364, 31));
  EXPECT_THAT(date_of(951782400), ElementsAre(2000, 2, 29, 0, 0, 2, 60, 29));
  EXPECT_THAT(date_of(951868800), ElementsAre(2000, 3, 1, 0, 0, 3, 61, 31));
  EXPECT_THAT(date_of(1709164800), ElementsAre(2024, 2, 29, 0, 0, 4, 60, 29));
  EXPECT_THAT(date_of(-62135596801), ElementsAre(0, 12, 31, 23, 59, 0, 366, 31));
  EXPECT_THAT(date_of(253402300800), ElementsAre(10000, 1, 1, 0, 0, 6, 1, 31));
  EXPECT_EQ(applied("days_in_month", -2203977600), 28);  // February 1900
}

TEST(Dates, AreGosWhereTimesAreOutOfRange) {
  for (const double value : {kNoNumber, kInfinite, 1e300}) {
    EXPECT_THAT(date_of(value), ElementsAre(292277026596, 12, 4, 15, 30, 0, 339, 31));
  }
  EXPECT_THAT(date_of(9e18), ElementsAre(285198648531, 4, 21, 16, 0, 6, 111, 30));
  EXPECT_THAT(date_of(-9e18), ElementsAre(-285198644592, 9, 12, 8, 0, 1, 256, 30));
}

}  // namespace
}  // namespace halite::query::promql
