#include "query/promql/number.h"

#include <cmath>
#include <limits>
#include <string_view>

#include <gtest/gtest.h>

namespace halite::query::promql {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The answers are those of strconv.ParseFloat of Go 1.26.

TEST(PromqlNumber, ReadsFloatsAsGo) {
  struct Case {
    std::string_view text;
    double value;
  };
  for (const auto& [text, value] : {Case{"0x1p10", 1024},
                                    {"0X1P-2", 0.25},
                                    {"0x1.8p1", 3},
                                    {"1_000", 1000},
                                    {"0x_1p4", 16},
                                    {"0x1_0p1", 32},
                                    {"1e4_0", 1e40},
                                    {"inf", kInfinite},
                                    {"-Infinity", -kInfinite},
                                    {"+inf", kInfinite},
                                    {"1e-400", 0},
                                    {"+5", 5},
                                    {"1.", 1},
                                    {"0x.8p0", 0.5},
                                    {".5", 0.5},
                                    {"0_1", 1},
                                    {"00_1", 1},
                                    {"017", 17},
                                    {"-1.5e3", -1500}}) {
    const Result<double> read = parse_float(text);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, value) << text;
  }
  EXPECT_TRUE(std::isnan(parse_float("nan").value()));
  EXPECT_TRUE(std::signbit(parse_float("-0").value()));
}

TEST(PromqlNumber, RefusesWhatGoRefuses) {
  for (const std::string_view text :
       {"0x1", "1__0", "_1",      "1_",     "+nan", ".",     "",     "0b1",
        "1e",  "1e+",  "0x1p",    "1f",     " 1",   "1_.5",  "1._5", "0x",
        "--1", "+-1",  "infinit", "nan(1)", "-",    "0x-1p1"}) {
    const Result<double> read = parse_float(text);
    ASSERT_FALSE(read) << text;
    EXPECT_TRUE(read.error().message.ends_with(": invalid syntax")) << read.error().message;
  }
  for (const std::string_view text : {"1e400", "-0x1p2000"}) {
    const Result<double> read = parse_float(text);
    ASSERT_FALSE(read) << text;
    EXPECT_TRUE(read.error().message.ends_with(": value out of range")) << read.error().message;
  }
}

}  // namespace
}  // namespace halite::query::promql
