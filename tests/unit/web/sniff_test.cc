#include "web/sniff.h"

#include <gtest/gtest.h>

namespace halite::web {
namespace {

TEST(Sniff, UpperCaseLettersAreHttp) {
  EXPECT_EQ(sniff('A'), Protocol::kHttp);
  EXPECT_EQ(sniff('G'), Protocol::kHttp);
  EXPECT_EQ(sniff('Z'), Protocol::kHttp);
}

TEST(Sniff, EverythingElseIsTelnet) {
  for (const char c : {'p', 'a', 'z', '@', '[', '0', ' ', '\n', '\0', '\xff'}) {
    EXPECT_EQ(sniff(c), Protocol::kTelnet) << static_cast<int>(c);
  }
}

}  // namespace
}  // namespace halite::web
