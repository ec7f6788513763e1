#include "common/bytes/crc32c.h"

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

// The polynomial bit by bit, reflected: RFC 3720, section 12.1.
std::uint32_t crc_by_bits(BytesView bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78u : 0u);
  }
  return ~crc;
}

TEST(Crc32c, LongBuffersAtAnyOffsetMatchTheDefinition) {
  Bytes bytes;
  std::uint32_t number = 1;
  for (int i = 0; i < 10'000; ++i) {
    number = number * 1664525 + 1013904223;
    bytes.push_back(static_cast<char>(number >> 24));
  }
  for (std::size_t offset = 0; offset < 20; ++offset) {
    for (const std::size_t size : {63, 64, 255, 256, 1023, 1024, 4097, 9'973}) {
      const BytesView part = BytesView(bytes).substr(offset, size);
      EXPECT_EQ(crc32c(part), crc_by_bits(part)) << offset << ", " << size;
    }
  }
}

}  // namespace
}  // namespace halite
