#include <cmath>
#include <limits>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "storage/cells/layouts/values/cell_value.h"
#include "storage/cells/layouts/values/qualifier.h"
#include "tests/unit/storage/cells/layouts/examples.h"

namespace halite::storage {
namespace {

struct WrittenValue {
  std::string value;
  int flags;
  bool operator==(const WrittenValue&) const = default;
};

WrittenValue write(ValueBits value, std::uint8_t point_flags) {
  Bytes bytes;
  const std::uint8_t flags = append_value(bytes, value, point_flags);
  return {to_hex(bytes), flags};
}

TEST(OpentsdbValue, IntegersAreAsNarrowAsTheyCanBe) {
  const auto written = [](std::int64_t value) { return write(integer_bits(value), 0); };
  EXPECT_EQ(written(0), (WrittenValue{"00", 0}));
  EXPECT_EQ(written(127), (WrittenValue{"7F", 0}));
  EXPECT_EQ(written(128), (WrittenValue{"0080", 1}));
  EXPECT_EQ(written(-128), (WrittenValue{"80", 0}));
  EXPECT_EQ(written(-129), (WrittenValue{"FF7F", 1}));
  EXPECT_EQ(written(32767), (WrittenValue{"7FFF", 1}));
  EXPECT_EQ(written(32768), (WrittenValue{"00008000", 3}));
  EXPECT_EQ(written(2147483647), (WrittenValue{"7FFFFFFF", 3}));
  EXPECT_EQ(written(2147483648), (WrittenValue{"0000000080000000", 7}));
  EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()),
            (WrittenValue{"8000000000000000", 7}));
}

TEST(OpentsdbValue, FloatsTakeFourBytesOnlyWhereNothingIsLost) {
  const auto written = [](double value, std::uint8_t flags = 0) {
    return write(double_bits(value), static_cast<std::uint8_t>(kFloat | flags));
  };
  EXPECT_EQ(written(4.5), (WrittenValue{"40900000", 0xB}));
  EXPECT_EQ(written(4.5, kWide), (WrittenValue{"4012000000000000", 0xF}));
  EXPECT_EQ(written(4.2), (WrittenValue{"4010CCCCCCCCCCCD", 0xF}));
  EXPECT_EQ(written(-0.0), (WrittenValue{"80000000", 0xB}));
  EXPECT_EQ(written(std::numeric_limits<double>::infinity()), (WrittenValue{"7F800000", 0xB}));
  EXPECT_EQ(written(std::numeric_limits<double>::max()), (WrittenValue{"7FEFFFFFFFFFFFFF", 0xF}));
  EXPECT_EQ(written(std::numeric_limits<float>::max()), (WrittenValue{"7F7FFFFF", 0xB}));
  EXPECT_EQ(written(std::numeric_limits<float>::denorm_min()), (WrittenValue{"00000001", 0xB}));
  EXPECT_EQ(written(std::numeric_limits<double>::denorm_min()),
            (WrittenValue{"0000000000000001", 0xF}));
}

TEST(OpentsdbValue, NansKeepTheirPayload) {
  for (const ValueBits nan :
       {0x7FF8000000000000ull, 0xFFF8000000000000ull, 0x7FF0000000000001ull, 0x7FF4000000000000ull,
        0xFFF0000020000000ull, 0x7FFFFFFFFFFFFFFFull}) {
    Bytes bytes;
    const std::uint8_t flags = append_value(bytes, nan, kFloat);
    EXPECT_EQ(read_value(flags, bytes)->bits, nan) << to_hex(bytes);
  }
}

TEST(OpentsdbValue, RandomBitsComeBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    ValueBits bits = random() >> random() % 64;
    if (random() % 2 == 0) bits = double_bits(static_cast<float>(random() % 1000) / 8);
    if (random() % 4 == 0) bits = ~bits;
    for (const std::uint8_t point_flags : {0, +kFloat, kFloat | kWide}) {
      Bytes bytes;
      const std::uint8_t flags = append_value(bytes, bits, point_flags);
      EXPECT_EQ(value_size(flags), bytes.size());
      const auto read = read_value(flags, bytes);
      ASSERT_TRUE(read);
      ASSERT_EQ(read->bits, bits);
      ASSERT_EQ(read->flags & kFloat, point_flags & kFloat);
      Bytes again;
      EXPECT_EQ(append_value(again, read->bits, read->flags), flags);
      EXPECT_EQ(again, bytes);
    }
  }
}

TEST(OpentsdbValue, TheRealLengthBeatsTheAnnouncedOne) {
  EXPECT_EQ(read_value(7, hex("FF"))->bits, integer_bits(-1));
  EXPECT_EQ(read_value(0, hex("012C"))->bits, integer_bits(300));
  EXPECT_EQ(read_value(0xF, hex("40900000"))->bits, double_bits(4.5));
}

TEST(OpentsdbValue, OldFloatsWithFourZerosInFront) {
  EXPECT_EQ(read_value(0xB, hex("0000000040900000"))->bits, double_bits(4.5));
  EXPECT_EQ(read_value(0xB, hex("0000000040900000"))->flags, kFloat);
  EXPECT_FALSE(read_value(0xB, hex("0000000140900000")));
  EXPECT_EQ(read_value(0xF, hex("0000000040900000"))->bits, 0x40900000u);
}

TEST(OpentsdbValue, OtherLengthsAreCorrupted) {
  for (const std::size_t length : {0, 3, 5, 6, 7, 9}) {
    EXPECT_FALSE(read_value(0, Bytes(length, '\1'))) << length;
    EXPECT_FALSE(read_value(0xF, Bytes(length, '\1'))) << length;
  }
  EXPECT_FALSE(read_value(0x8, hex("01")));
  EXPECT_FALSE(read_value(0x9, hex("0101")));
}

TEST(OpentsdbQualifier, BothForms) {
  const auto written = [](std::uint32_t offset_ms, bool millis, std::uint8_t flags) {
    Bytes bytes;
    append_qualifier(bytes, {offset_ms, millis, flags});
    const auto read = read_qualifier(bytes + "rest");
    EXPECT_EQ(read->offset_ms, offset_ms);
    EXPECT_EQ(read->millis, millis);
    EXPECT_EQ(read->flags, flags);
    EXPECT_EQ(qualifier_size(bytes.front()), bytes.size());
    return to_hex(bytes);
  };
  EXPECT_EQ(written(30'000, false, 0xB), "01EB");
  EXPECT_EQ(written(3'599'000, false, 0), "E0F0");
  EXPECT_EQ(written(500, true, 0), "F0007D00");
  EXPECT_EQ(written(0, true, 1), "F0000001");
  EXPECT_EQ(written(3'599'999, true, 0xF), "FDBB9FCF");
}

TEST(OpentsdbQualifier, OutsideTheHourOrCutShort) {
  EXPECT_FALSE(read_qualifier(""));
  EXPECT_FALSE(read_qualifier(hex("01")));
  EXPECT_FALSE(read_qualifier(hex("F0007D")));
  EXPECT_FALSE(read_qualifier(hex("E100")));  // second 3600
  EXPECT_FALSE(read_qualifier(hex("EFFF")));
  EXPECT_FALSE(read_qualifier(hex("FDBBA000")));  // millisecond 3600000
  EXPECT_FALSE(read_qualifier(hex("FFFFFFFF")));
}

}  // namespace
}  // namespace halite::storage
