#include "web/sniff.h"

#include <gtest/gtest.h>

namespace halite::web {
namespace {

TEST(Sniff, UpperCaseLettersAreHttp) {
  EXPECT_EQ(sniff("A"), Protocol::kHttp);
  EXPECT_EQ(sniff("G"), Protocol::kHttp);
  EXPECT_EQ(sniff("Z"), Protocol::kHttp);
}

TEST(Sniff, EverythingElseIsTelnet) {
  for (const char c : {'p', 'a', 'z', '@', '[', '0', ' ', '\n', '\0', '\xff'}) {
    EXPECT_EQ(sniff(std::string_view(&c, 1)), Protocol::kTelnet) << static_cast<int>(c);
  }
}

TEST(Sniff, EmptyLinesBeforeARequestAreHttp) {
  EXPECT_EQ(sniff("\r\nGET / HTTP/1.1\r\n"), Protocol::kHttp);
  EXPECT_EQ(sniff("\n\r\n\nPOST "), Protocol::kHttp);
}

TEST(Sniff, EmptyLinesBeforeAnythingElseAreTelnet) {
  for (const char* text : {"\r\n", "\n\nput m 1 1 a=b\n", "\nGET\n", "\nSTATS \n", "\n\r\nGE"}) {
    EXPECT_EQ(sniff(text), Protocol::kTelnet) << text;
  }
}

}  // namespace
}  // namespace halite::web
