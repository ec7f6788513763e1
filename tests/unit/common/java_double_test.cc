#include "common/java_double.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "common/data_point.h"

namespace halite {
namespace {

TEST(JavaDouble, Layout) {
  EXPECT_EQ(java_double(3), "3.0");
  EXPECT_EQ(java_double(0), "0.0");
  EXPECT_EQ(java_double(-0.0), "-0.0");
  EXPECT_EQ(java_double(123456.789), "123456.789");
  EXPECT_EQ(java_double(12345678.5), "1.23456785E7");
  EXPECT_EQ(java_double(1e7), "1.0E7");
  EXPECT_EQ(java_double(9999999), "9999999.0");
  EXPECT_EQ(java_double(0.001), "0.001");
  EXPECT_EQ(java_double(0.0001), "1.0E-4");
  EXPECT_EQ(java_double(0.00099), "9.9E-4");
  EXPECT_EQ(java_double(-1.5e-10), "-1.5E-10");
  EXPECT_EQ(java_double(1e23), "1.0E23");
  EXPECT_EQ(java_double(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(java_double(1e100), "1.0E100");
}

TEST(JavaDouble, Ends) {
  EXPECT_EQ(java_double(std::numeric_limits<double>::max()), "1.7976931348623157E308");
  EXPECT_EQ(java_double(std::numeric_limits<double>::min()), "2.2250738585072014E-308");
  EXPECT_EQ(java_double(-std::numeric_limits<double>::infinity()), "-Infinity");
  EXPECT_EQ(java_double(std::numeric_limits<double>::infinity()), "Infinity");
  EXPECT_EQ(java_double(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(java_double(-std::numeric_limits<double>::quiet_NaN()), "NaN");
}

TEST(JavaDouble, ReadsBackAsTheSameDouble) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const double value = as_double(random());
    if (value != value) continue;
    EXPECT_EQ(double_bits(std::strtod(java_double(value).c_str(), nullptr)), double_bits(value));
  }
}

TEST(JavaDouble, Appends) {
  std::string text = "x=";
  append_java_double(text, 0.5);
  EXPECT_EQ(text, "x=0.5");
}

}  // namespace
}  // namespace halite
