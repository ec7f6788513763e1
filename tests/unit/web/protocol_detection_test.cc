#include "web/connection/protocol_detection.h"

#include <gtest/gtest.h>

namespace halite::web {
namespace {

TEST(Sniff, UpperCaseLettersAreHttp) {
  EXPECT_EQ(detect_protocol("A"), Protocol::kHttp);
  EXPECT_EQ(detect_protocol("G"), Protocol::kHttp);
  EXPECT_EQ(detect_protocol("Z"), Protocol::kHttp);
}

TEST(Sniff, EverythingElseIsTelnet) {
  for (const char c : {'p', 'a', 'z', '@', '[', '0', ' ', '\n', '\0', '\xff'}) {
    EXPECT_EQ(detect_protocol(std::string_view(&c, 1)), Protocol::kTelnet) << static_cast<int>(c);
  }
}

TEST(Sniff, EmptyLinesBeforeARequestAreHttp) {
  EXPECT_EQ(detect_protocol("\r\nGET / HTTP/1.1\r\n"), Protocol::kHttp);
  EXPECT_EQ(detect_protocol("\n\r\n\nPOST "), Protocol::kHttp);
}

TEST(Sniff, EmptyLinesBeforeAnythingElseAreTelnet) {
  for (const char* text : {"\r\n", "\n\nput m 1 1 a=b\n", "\nGET\n", "\nSTATS \n", "\n\r\nGE"}) {
    EXPECT_EQ(detect_protocol(text), Protocol::kTelnet) << text;
  }
}

}  // namespace
}  // namespace halite::web
