#include "storage/cells/layouts/values/cyclic_value.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace halite::storage {
namespace {

std::string integer(std::int64_t value) { return to_hex(cyclic_value(integer_bits(value), 0)); }
std::string real(double value) { return to_hex(cyclic_value(double_bits(value), kFloat)); }

TEST(CyclicValue, IntegersLoseWhatTheirSignImplies) {
  EXPECT_EQ(integer(0), "00");
  EXPECT_EQ(integer(1), "0001");
  EXPECT_EQ(integer(127), "007F");
  EXPECT_EQ(integer(128), "000080");
  EXPECT_EQ(integer(-1), "00FF");
  EXPECT_EQ(integer(-128), "0080");
  EXPECT_EQ(integer(-129), "00FF7F");
  EXPECT_EQ(integer(0x123456), "00123456");
  EXPECT_EQ(integer(std::numeric_limits<std::int64_t>::max()), "007FFFFFFFFFFFFFFF");
  EXPECT_EQ(integer(std::numeric_limits<std::int64_t>::min()), "008000000000000000");
}

TEST(CyclicValue, DoublesLoseTheirTrailingZeros) {
  EXPECT_EQ(real(0.0), "01");
  EXPECT_EQ(real(-0.0), "0180");
  EXPECT_EQ(real(1.0), "013FF0");
  EXPECT_EQ(real(2.0), "0140");
  EXPECT_EQ(real(4.5), "014012");
  EXPECT_EQ(real(4.2), "014010CCCCCCCCCCCD");
}

TEST(CyclicValue, FlagsComeBack) {
  EXPECT_EQ(to_hex(cyclic_value(double_bits(4.5), kFloat | kMillis | kWide)), "074012");
  EXPECT_EQ(read_cyclic_value(from_hex("074012").value())->flags, kFloat | kMillis | kWide);
  EXPECT_EQ(to_hex(cyclic_value(integer_bits(5), kMillis)), "0205");
}

TEST(CyclicValue, EveryBitPatternComesBack) {
  std::mt19937_64 random(2);
  const ValueBits telling[] = {0,
                               1,
                               ~0ull,
                               1ull << 63,
                               0x7FF0000000000001,
                               0xFFF8000000000000,
                               0x7FF0000000000000,
                               0x8000000000000001};
  for (int i = 0; i < 300'000; ++i) {
    ValueBits bits = i < 8 ? telling[i] : random() >> random() % 64 << random() % 64;
    if (random() % 4 == 0) bits = ~bits;
    for (std::uint8_t flags = 0; flags < 8; ++flags) {
      const Bytes bytes = cyclic_value(bits, flags);
      ASSERT_LE(bytes.size(), 9u);
      const auto read = read_cyclic_value(bytes);
      ASSERT_TRUE(read) << to_hex(bytes);
      ASSERT_EQ(read->bits, bits);
      ASSERT_EQ(read->flags, flags);
    }
  }
}

TEST(CyclicValue, OnlyTheShortestFormIsRead) {
  for (const std::string_view text : {"", "08", "8001", "0000", "000001", "00FFFF", "0100",
                                      "014000", "014010CCCCCCCCCCCD00", "00010203040506070809"}) {
    EXPECT_FALSE(read_cyclic_value(from_hex(text).value())) << text;
  }
}

}  // namespace
}  // namespace halite::storage
