#include "common/bytes/varint.h"

#include <limits>

#include <gtest/gtest.h>

namespace halite {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST(Varint, GoesBothWays) {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    for (const std::uint64_t less : {0, 1}) {
      const std::uint64_t value = (bits == 64 ? 0 : std::uint64_t{1} << bits) - less;
      Bytes bytes;
      append_varint(bytes, value);
      EXPECT_EQ(bytes.size(), varint_size(value));
      const auto* trusted = reinterpret_cast<const std::uint8_t*>(bytes.data());
      EXPECT_EQ(take_trusted_varint(trusted), value);
      bytes += 'x';
      BytesView rest = bytes;
      EXPECT_EQ(take_varint(rest), value);
      EXPECT_EQ(rest, "x");
    }
  }
}

TEST(Varint, RefusesWhatDoesNotEndOrFit) {
  const Bytes nine(9, '\xFF');
  for (const Bytes& bytes : {Bytes(), Bytes("\x80"), nine, nine + '\x02', nine + "\x80\x01"}) {
    BytesView rest = bytes;
    EXPECT_EQ(take_varint(rest), std::nullopt) << to_hex(bytes);
  }
  const Bytes greatest = nine + '\x01';
  BytesView rest = greatest;
  EXPECT_EQ(take_varint(rest), kMax);
}

TEST(Varint, ZigzagKeepsSmallMagnitudesSmall) {
  EXPECT_EQ(zigzag(0), 0u);
  EXPECT_EQ(zigzag(kMax), 1u);  // -1
  EXPECT_EQ(zigzag(1), 2u);
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, kMax, kMax / 2}) {
    EXPECT_EQ(unzigzag(zigzag(value)), value);
  }
}

}  // namespace
}  // namespace halite
