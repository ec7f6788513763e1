#include "common/bytes/utf8.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<unsigned> units(std::string_view text) {
  std::vector<unsigned> found;
  each_utf16_unit(text, [&](char16_t unit) { found.push_back(unit); });
  return found;
}

TEST(Utf8, TakesEveryCharacterAndBack) {
  for (char32_t c = 0; c <= 0x10FFFF; c += c < 0x11000 ? 1 : 251) {
    std::string text;
    append_utf8(text, c);
    const CodePoint read = decode_utf8(text);
    ASSERT_EQ(read.value, c);
    ASSERT_EQ(read.bytes, text.size());
    ASSERT_EQ(is_utf8(text), c < 0xD800 || c > 0xDFFF) << static_cast<unsigned>(c);
  }
}

TEST(Utf8, RefusesWhatIsNone) {
  for (const std::string_view bad :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xF0\x80\x80\x80",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xFF", "\xC3", "\xE2\x82",
        "\xF0\x9F\x98", "\xC3(", "\xE2(\xA1", "\xF0\x9F(\x80"}) {
    EXPECT_EQ(decode_utf8(bad).bytes, 0U);
    EXPECT_FALSE(is_utf8(bad));
  }
  EXPECT_FALSE(is_utf8("ok\xED\xA0\xBD"));
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("aé€😀"));
}

TEST(Utf8, KnowsAscii) {
  EXPECT_TRUE(is_ascii(""));
  EXPECT_TRUE(is_ascii(std::string_view("a\0\x7F", 3)));
  EXPECT_FALSE(is_ascii("é"));
}

TEST(Utf8, SplitsIntoUtf16Units) {
  EXPECT_THAT(units(""), IsEmpty());
  EXPECT_THAT(units("aé€"), ElementsAre('a', 0xE9, 0x20AC));
  EXPECT_THAT(units("😀"), ElementsAre(0xD83D, 0xDE00));
  EXPECT_THAT(units("\xED\xA0\xBD"), ElementsAre(0xD83D));
  EXPECT_THAT(units("a\xFFz"), ElementsAre('a', 0xFFFD, 'z'));
}

TEST(Utf8, ComesFromLatin1) {
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  const std::string text = latin1_to_utf8(all);
  EXPECT_TRUE(is_utf8(text));
  unsigned expected = 0;
  for (const unsigned unit : units(text)) EXPECT_EQ(unit, expected++);
  EXPECT_EQ(latin1_to_utf8("z\xFCrich"), "z\u00FCrich");
}

TEST(Utf8, IsRepaired) {
  EXPECT_EQ(repair_utf8("aé€😀"), "aé€😀");
  EXPECT_EQ(repair_utf8("a\xFFz\xC3"), "a\uFFFDz\uFFFD");
  EXPECT_TRUE(is_utf8(repair_utf8("\xED\xA0\xBD\xF8\x88\x80\x80\x80")));
}

}  // namespace
}  // namespace halite
