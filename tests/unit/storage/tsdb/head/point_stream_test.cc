#include "storage/tsdb/head/point_stream.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace halite::storage {
namespace {

std::vector<std::uint8_t> encode(const std::vector<StreamPoint>& points) {
  std::vector<std::uint8_t> bytes;
  StreamState state;
  for (const StreamPoint& point : points) {
    std::array<std::uint8_t, kStreamPointBytesMax> room{};
    const std::uint8_t* begin = room.data();
    const std::uint8_t* end = point_stream::encode_point(room.data(), state, point);
    bytes.insert(bytes.end(), begin, end);
  }
  return bytes;
}

void expect_round_trip(const std::vector<StreamPoint>& points) {
  const auto bytes = encode(points);
  StreamState state;
  const std::uint8_t* from = bytes.data();
  for (const StreamPoint& want : points) {
    const StreamPoint got = point_stream::decode_point(from, bytes.data() + bytes.size(), state);
    ASSERT_EQ(got.time, want.time);
    ASSERT_EQ(got.value, want.value);
    ASSERT_EQ(got.is_float, want.is_float);
  }
  EXPECT_EQ(from, bytes.data() + bytes.size());
}

StreamPoint integer(TimestampMs time, std::int64_t value) {
  return {.time = time, .value = integer_bits(value), .is_float = false};
}
StreamPoint real(TimestampMs time, double value) {
  return {.time = time, .value = double_bits(value), .is_float = true};
}

TEST(PointStream, EdgesComeBackBitForBit) {
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  expect_round_trip({integer(0, 0),
                     integer(kMax, kMin),
                     integer(kMin, kMax),
                     real(5, -0.0),
                     real(5, 0.0),
                     integer(5, -1),
                     real(4, std::nan("77")),
                     {.time = 3, .value = 0xFFF8'0000'0000'1234, .is_float = true},
                     real(2, std::numeric_limits<double>::infinity()),
                     real(1, 5e-324),
                     integer(1, 42)});
}

TEST(PointStream, RandomMixturesComeBackBitForBit) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<StreamPoint> points;
    TimestampMs time = static_cast<TimestampMs>(random() % 2'000'000'000'000);
    for (int i = 0; i < 300; ++i) {
      const auto kind = random() % 8;
      time += kind == 0 ? static_cast<TimestampMs>(random() % 100'000) - 50'000 : 10'000;
      const std::uint64_t bits = random() >> (random() % 64);
      points.push_back(
          {.time = time,
           .value = kind == 1 ? double_bits(static_cast<double>(bits % 100000) / 100) : bits,
           .is_float = kind == 1 || random() % 3 == 0});
    }
    expect_round_trip(points);
  }
}

TEST(PointStream, AnEvenGaugeOfIntegersTakesAByteAPoint) {
  std::vector<StreamPoint> points;
  for (int i = 0; i < 1000; ++i) points.push_back(integer(1'700'000'000'000 + i * 10'000, i % 64));
  EXPECT_LE(encode(points).size(), 1000U + 20);
}

TEST(PointStream, ShortChangesEndWhereABytesRoomEnds) {
  constexpr TimestampMs kBegin = 1'700'000'000'000;
  for (const std::int64_t change : {63, 64, -64, -65, 1000}) {
    const std::vector<StreamPoint> points = {integer(kBegin, 0), integer(kBegin + 10, 0),
                                             integer(kBegin + 20, change)};
    const bool is_short = change >= -64 && change <= 63;
    EXPECT_EQ(encode(points).size() - encode({integer(kBegin, 0), integer(kBegin + 10, 0)}).size(),
              is_short ? 1U : 1U + (change == 1000 ? 2U : 1U))
        << change;
    expect_round_trip(points);
  }
}

TEST(PointStream, StepsBeyond32BitsComeBack) {
  constexpr std::int64_t kFar = std::int64_t{1} << 31;
  expect_round_trip({integer(0, 1), integer(kFar, 2), integer(2 * kFar, 3),
                     integer(3 * kFar - 1, 4), integer(4 * kFar - 2, 5), integer(5 * kFar - 3, 6),
                     real(3 * kFar - 3, 1.5), integer(kFar - 3, 7), integer(-kFar - 4, 8),
                     integer(-3 * kFar - 5, 9)});
}

}  // namespace
}  // namespace halite::storage
