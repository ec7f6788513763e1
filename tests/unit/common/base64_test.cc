#include "common/bytes/base64.h"

#include <gtest/gtest.h>

namespace halite {
namespace {

TEST(Base64, GoesBothWays) {
  EXPECT_EQ(to_base64("light w"), "bGlnaHQgdw==");
  EXPECT_EQ(from_base64("bGlnaHQgdw=="), "light w");
  EXPECT_EQ(from_base64("bGlnaHQgdw"), "light w");
  EXPECT_EQ(from_base64(""), "");
  EXPECT_EQ(from_base64(to_base64(Bytes("\0\xFF\x80", 3))), Bytes("\0\xFF\x80", 3));
  for (const char* wrong : {"a", "ab c", "ab\n", "a=bc", "%%%%", "abcde"}) {
    EXPECT_EQ(from_base64(wrong), std::nullopt) << wrong;
  }
}

TEST(Base64, SkipsOtherCharactersWhenLenient) {
  EXPECT_EQ(from_lenient_base64("aGFsaXRl"), "halite");
  EXPECT_EQ(from_lenient_base64("aG Fs\n!aX=="), "hali");
  EXPECT_EQ(from_lenient_base64("aGFsaQ=="), "hali");
  EXPECT_EQ(from_lenient_base64("aGFsaXQ="), "halit");
  EXPECT_EQ(from_lenient_base64("aGFsaX"), "hal");
  EXPECT_EQ(from_lenient_base64("+/\xFF+/"), Bytes("\xFB\xFF\xBF"));
  EXPECT_EQ(from_lenient_base64("===="), Bytes(1, '\xFF'));
  EXPECT_EQ(from_lenient_base64(""), "");
}

}  // namespace
}  // namespace halite
