#include "common/java/java_double.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "common/data_point.h"
#include "tests/support/sanitized.h"

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

// The shortest digits as another library finds them; the point stands where Java has it.
std::string fixed_text(double value) {
  std::array<char, 64> text;
  char* const end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed).ptr;
  const std::string fixed(text.data(), end);
  return fixed.contains('.') ? fixed : fixed + ".0";
}

TEST(JavaDouble, ManyDecimals) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 500'000; ++i) {
    const auto below = static_cast<double>(std::uint64_t{1} << random() % 24);
    const double value = std::uniform_real_distribution(1e-3, below)(random);
    if (value >= 1e7) continue;
    ASSERT_EQ(java_double(value), fixed_text(value));
    ASSERT_EQ(java_double(value / 3 * 3), fixed_text(value / 3 * 3));
  }
  for (const double value : {1.0 / 3, 2.0 / 3, 10.0 / 3, 0.1 + 0.2, 0.0012345678901234567,
                             9999999.999999998, 4503599.627370496, 0.001000000000000001}) {
    EXPECT_EQ(java_double(value), fixed_text(value));
  }
}

// Of few decimals the text is not searched for: it is what was rounded to, and no shorter.
TEST(JavaDouble, FewDecimals) {
  std::mt19937_64 random(2);
  for (std::size_t i = 0; i < 200'000; i += test::step(1, 10)) {
    const auto number = static_cast<std::int64_t>(random() % 100'000'000'000 >> random() % 37);
    for (const double scale : {1.0, 10.0, 100.0, 1000.0, 1e4, 1e5, 3e4}) {
      const double value = static_cast<double>(number) / scale;
      if (value < 1e-3 || value >= 1e7) continue;
      const std::string wanted = fixed_text(value);
      ASSERT_EQ(java_double(value), wanted);
      ASSERT_EQ(java_double(-value), "-" + wanted);
      const double next = std::nextafter(value, 1e9);  // hardly ever of few decimals
      if (next < 1e7) ASSERT_EQ(java_double(next), fixed_text(next));
    }
  }
  EXPECT_EQ(java_double(9999999.9999), "9999999.9999");
  EXPECT_EQ(java_double(0.0012), "0.0012");
  EXPECT_EQ(java_double(5.0504), "5.0504");
  EXPECT_EQ(java_double(5.05), "5.05");
  EXPECT_EQ(java_double(1000.004), "1000.004");
}

TEST(JavaDouble, Appends) {
  std::string text = "x=";
  append_java_double(text, 0.5);
  EXPECT_EQ(text, "x=0.5");
}

}  // namespace
}  // namespace halite
