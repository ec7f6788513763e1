#include "ingest/rules/java_number.h"

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace halite::ingest {
namespace {

std::string long_error(std::string_view text) {
  const auto parsed = parse_java_long(text);
  return parsed ? "none" : parsed.error();
}

TEST(JavaLong, TakesWhatFitsIn64Bits) {
  EXPECT_EQ(parse_java_long("0"), 0);
  EXPECT_EQ(parse_java_long("007"), 7);
  EXPECT_EQ(parse_java_long("+5"), 5);
  EXPECT_EQ(parse_java_long("-0"), 0);
  EXPECT_EQ(parse_java_long("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_java_long("+9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_java_long("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_java_long("0000000000000000001"), 1);
}

TEST(JavaLong, SaysWhatIsWrong) {
  EXPECT_EQ(long_error(""), "Empty string");
  EXPECT_EQ(long_error("-"), "Just a sign, no value: -");
  EXPECT_EQ(long_error("+"), "Just a sign, no value: +");
  EXPECT_EQ(long_error("abc"), "Invalid character 'a' in abc");
  EXPECT_EQ(long_error("12a4"), "Invalid character 'a' in 12a4");
  EXPECT_EQ(long_error("+Infinity"), "Invalid character 'I' in +Infinity");
  EXPECT_EQ(long_error("--1"), "Invalid character '-' in --1");
  EXPECT_EQ(long_error("1é"), "Invalid character 'é' in 1é");
  EXPECT_EQ(long_error(" 1"), "Invalid character ' ' in  1");
  EXPECT_EQ(long_error("9223372036854775808"), "Overflow in 9223372036854775808");
  EXPECT_EQ(long_error("+9223372036854775808"), "Overflow in +9223372036854775808");
  EXPECT_EQ(long_error("-9223372036854775809"), "Overflow in -9223372036854775809");
  EXPECT_EQ(long_error("9999999999999999999"), "Overflow in 9999999999999999999");
}

TEST(JavaLong, CountsCharactersNotBytes) {
  EXPECT_EQ(long_error("12345678901234567890"), "Value too long: 12345678901234567890");
  EXPECT_EQ(long_error("-12345678901234567890"), "Value too long: -12345678901234567890");
  EXPECT_EQ(long_error("ééééééééééééééééééé"), "Invalid character 'é' in ééééééééééééééééééé");
  EXPECT_EQ(long_error("éééééééééééééééééééé"), "Value too long: éééééééééééééééééééé");
}

struct JavaDouble {
  std::string_view text;
  std::uint64_t bits;
  std::string_view error;
};

// What Double.parseDouble of Java 17 answered.
constexpr JavaDouble kJavaDoubles[] = {
    {"1.5", 0x3ff8000000000000, ""},
    {"-1.5", 0xbff8000000000000, ""},
    {"+1.5", 0x3ff8000000000000, ""},
    {".5", 0x3fe0000000000000, ""},
    {"5.", 0x4014000000000000, ""},
    {"-.5", 0xbfe0000000000000, ""},
    {"-0.0", 0x8000000000000000, ""},
    {"0.0", 0x0000000000000000, ""},
    {"1e3", 0x408f400000000000, ""},
    {"1E3", 0x408f400000000000, ""},
    {"1e+3", 0x408f400000000000, ""},
    {"1e-3", 0x3f50624dd2f1a9fc, ""},
    {"1.5f", 0x3ff8000000000000, ""},
    {"1.5F", 0x3ff8000000000000, ""},
    {"1.5d", 0x3ff8000000000000, ""},
    {"1.5D", 0x3ff8000000000000, ""},
    {"1.5df", 0, "For input string: \"1.5df\""},
    {"1e5f", 0x40f86a0000000000, ""},
    {" 1.5 ", 0x3ff8000000000000, ""},
    {"\0111.5\012", 0x3ff8000000000000, ""},
    {"1.5x", 0, "For input string: \"1.5x\""},
    {"1e", 0, "For input string: \"1e\""},
    {"1e+", 0, "For input string: \"1e+\""},
    {"e5", 0, "For input string: \"e5\""},
    {".", 0, "For input string: \".\""},
    {"-.", 0, "For input string: \"-.\""},
    {"..", 0, "multiple points"},
    {"1..2", 0, "multiple points"},
    {"1.2.3", 0, "multiple points"},
    {"1.2.3x", 0, "multiple points"},
    {".1.", 0, "multiple points"},
    {"a.b", 0, "For input string: \"a.b\""},
    {"a.b.c", 0, "For input string: \"a.b.c\""},
    {"NaN.", 0, "For input string: \"NaN.\""},
    {"-NaN", 0x7ff8000000000000, ""},
    {"+NaN", 0x7ff8000000000000, ""},
    {"NaN", 0x7ff8000000000000, ""},
    {"Infinity", 0x7ff0000000000000, ""},
    {"-Infinity", 0xfff0000000000000, ""},
    {"+Infinity", 0x7ff0000000000000, ""},
    {"Infinity.0", 0, "For input string: \"Infinity.0\""},
    {"1e999", 0x7ff0000000000000, ""},
    {"-1e999", 0xfff0000000000000, ""},
    {"1e-999", 0x0000000000000000, ""},
    {"-1e-999", 0x8000000000000000, ""},
    {"1e99999999999", 0x7ff0000000000000, ""},
    {"1e-99999999999", 0x0000000000000000, ""},
    {"0e99999999999", 0x0000000000000000, ""},
    {"4.9E-324", 0x0000000000000001, ""},
    {"2.4E-324", 0x0000000000000000, ""},
    {"2.5E-324", 0x0000000000000001, ""},
    {"1.7976931348623157E308", 0x7fefffffffffffff, ""},
    {"1.7976931348623159E308", 0x7ff0000000000000, ""},
    {"0x1.8p1", 0x4008000000000000, ""},
    {"-0x1.8p1", 0xc008000000000000, ""},
    {"0X1P-3", 0x3fc0000000000000, ""},
    {"0x.8p0", 0x3fe0000000000000, ""},
    {"0x1.p3", 0x4020000000000000, ""},
    {"0x.p3", 0, "For input string: \"0x.p3\""},
    {"0x1.8", 0, "For input string: \"0x1.8\""},
    {"0x1p", 0, "For input string: \"0x1p\""},
    {"0x1p1f", 0x4000000000000000, ""},
    {"0x1p99999", 0x7ff0000000000000, ""},
    {"0x1p-99999", 0x0000000000000000, ""},
    {"0xp1", 0, "For input string: \"0xp1\""},
    {"0x1.8.p1", 0, "For input string: \"0x1.8.p1\""},
    {"", 0, "empty String"},
    {"  ", 0, "empty String"},
    {"+", 0, "For input string: \"+\""},
    {"-", 0, "For input string: \"-\""},
    {"1 .5", 0, "For input string: \"1 .5\""},
    {"1_000.0", 0, "For input string: \"1_000.0\""},
    {"0.1f", 0x3fb999999999999a, ""},
    {"00.5", 0x3fe0000000000000, ""},
    {"9007199254740993.0", 0x4340000000000000, ""},
    {"123456789012345678.5", 0x437b69b4ba630f35, ""},
    {"0.30000000000000004", 0x3fd3333333333334, ""},
    {"3.14159265358979", 0x400921fb54442d11, ""},
    {"1e22", 0x4480f0cf064dd592, ""},
    {"1e23", 0x44b52d02c7e14af6, ""},
    {"8.41e21", 0x447c7e83209e90b2, ""},
    {"9007199254740992.5", 0x4340000000000000, ""},
    {"0.1234567890123456789", 0x3fbf9add3746f65f, ""},
    {"179769313486231580793e289", 0x7ff0000000000000, ""},
    {"2.2250738585072012e-308", 0x0010000000000000, ""},
    {"١.٥", 0, "For input string: \"١.٥\""},
    {"1.5é", 0, "For input string: \"1.5é\""},
};

TEST(JavaDouble, AnswersAsJavaDid) {
  for (const JavaDouble& expected : kJavaDoubles) {
    const auto parsed = parse_java_double(expected.text);
    ASSERT_EQ(parsed.has_value(), expected.error.empty()) << '"' << expected.text << '"';
    if (!parsed) {
      EXPECT_EQ(parsed.error(), expected.error);
    } else if (std::isnan(*parsed)) {
      EXPECT_EQ(expected.bits, 0x7ff8000000000000U);
    } else {
      EXPECT_EQ(double_bits(*parsed), expected.bits) << '"' << expected.text << '"';
    }
  }
}

TEST(JavaDouble, DoesNotMindItsLength) {
  const std::string zeros(100'000, '0');
  EXPECT_EQ(parse_java_double("1." + zeros), 1.0);
  EXPECT_EQ(parse_java_double("0." + zeros + "1"), 0.0);
  EXPECT_EQ(parse_java_double("1" + zeros + ".0"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_java_double("0x0." + zeros + "1p400008"), 16.0);
}

TEST(Value, IsAnIntegerWithoutPointAndExponent) {
  EXPECT_EQ(parse_value("1"), (Number{.bits = 1, .is_float = false}));
  EXPECT_EQ(parse_value("-1"), (Number{.bits = integer_bits(-1), .is_float = false}));
  EXPECT_EQ(parse_value("1.0"), (Number{.bits = double_bits(1), .is_float = true}));
  EXPECT_EQ(parse_value("1e0"), (Number{.bits = double_bits(1), .is_float = true}));
  EXPECT_EQ(parse_value("0x1p3").error(), "Invalid character 'x' in 0x1p3");
  EXPECT_EQ(parse_value("0x1.p3"), (Number{.bits = double_bits(8), .is_float = true}));
  EXPECT_EQ(parse_value("1f").error(), "Invalid character 'f' in 1f");
  EXPECT_EQ(parse_value("NaN").error(), "Invalid character 'N' in NaN");
  EXPECT_EQ(parse_value("Infinity").error(), "Invalid character 'I' in Infinity");
}

TEST(Value, QuickWayAgreesWithTheFullOne) {
  const auto agree = [](std::string_view text) {
    const auto full = parse_value(text);
    const bool finite = full && (!full->is_float || std::isfinite(as_double(full->bits)));
    Number quick;
    ASSERT_EQ(parse_finite_value(text, quick), finite) << text;
    if (finite) EXPECT_EQ(quick, *full) << text;
  };
  for (const JavaDouble& text : kJavaDoubles) agree(text.text);
  std::string digits;
  for (int i = 0; i < 25; ++i) {
    digits += static_cast<char>('1' + (i * 7 % 9));
    agree(digits);
    agree("-" + digits);
    for (std::size_t point = 0; point <= digits.size(); ++point) {
      agree(digits.substr(0, point) + "." + digits.substr(point));
      agree("-" + digits.substr(0, point) + "." + digits.substr(point) + "e-7");
    }
  }
}

}  // namespace
}  // namespace halite::ingest
