#include "common/bytes/read_number.h"

#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

namespace halite {
namespace {

TEST(ReadNumber, TakesAWholeText) {
  std::int32_t whole = 0;
  EXPECT_TRUE(read_number("-12", whole));
  EXPECT_EQ(whole, -12);
  double real = 0;
  EXPECT_TRUE(read_number("1.5e3", real));
  EXPECT_EQ(real, 1500);
}

TEST(ReadNumber, RefusesAnythingElse) {
  std::int32_t whole = 0;
  for (const std::string_view text : {"", "-", "+1", " 1", "1 ", "1x", "x", "1.5", "2147483648"}) {
    EXPECT_FALSE(read_number(text, whole)) << text;
  }
  EXPECT_FALSE(read_number(std::string_view(), whole));
  std::uint16_t port = 0;
  EXPECT_FALSE(read_number("-1", port));
  EXPECT_FALSE(read_number("65536", port));
}

}  // namespace
}  // namespace halite
