#include "common/crc32c.h"

#include <gtest/gtest.h>

namespace halite {
namespace {

// Values from RFC 3720, appendix B.4.
TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c(Bytes(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(Bytes(32, '\xFF')), 0x62A8AB43u);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  Bytes rising;
  for (char c = 0; c < 32; ++c) rising.push_back(c);
  EXPECT_EQ(crc32c(rising), 0x46DD794Eu);
}

TEST(Crc32c, GoesOnWhereItStopped) {
  const Bytes text = "the quick brown fox jumps over the lazy dog";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const std::uint32_t before = crc32c(text.substr(0, cut));
    EXPECT_EQ(crc32c(text.substr(cut), before), crc32c(text));
  }
}

}  // namespace
}  // namespace halite
