#include "common/bytes/ascii.h"

#include <gtest/gtest.h>

namespace halite {
namespace {

TEST(Ascii, TrimsBothEnds) {
  EXPECT_EQ(trim(" \ta b\t "), "a b");
  EXPECT_EQ(trim("\na\n"), "\na\n");
  EXPECT_EQ(trim("\n a \r", kJsonBlanks), "a");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(java_trim(std::string_view("\0\x1F a\x01", 5)), "a");
  EXPECT_EQ(java_trim("\xA0"), "\xA0");
}

TEST(Ascii, ChangesAsciiLettersOnly) {
  EXPECT_EQ(to_lower("AZaz@[\xC4"), "azaz@[\xC4");
  EXPECT_EQ(to_upper("AZaz`{\xE4"), "AZAZ`{\xE4");
  EXPECT_TRUE(equal_ignoring_case("GZip", "gzIP"));
  EXPECT_FALSE(equal_ignoring_case("gzip", "gzi"));
}

TEST(Ascii, ReadsHexadecimalDigits) {
  EXPECT_EQ(hex_digit('0'), 0);
  EXPECT_EQ(hex_digit('f'), 15);
  EXPECT_EQ(hex_digit('A'), 10);
  for (const char c : {'g', 'G', '/', ':', '@', '`', '\xC1'}) EXPECT_EQ(hex_digit(c), -1);
  EXPECT_EQ(leading_hex_unit("00e4x"), u'\u00E4');
  EXPECT_EQ(leading_hex_unit("00e"), std::nullopt);
  EXPECT_EQ(leading_hex_unit("00eg"), std::nullopt);
}

TEST(Ascii, CountsLeadingDigits) {
  EXPECT_EQ(count_digits("12a3"), 2u);
  EXPECT_EQ(count_digits("a"), 0u);
  EXPECT_EQ(count_digits(""), 0u);
}

}  // namespace
}  // namespace halite
