#include "storage/tsdb/chunk/chunk.h"

#include <limits>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/bytes/crc32c.h"
#include "tests/support/point_shapes.h"
#include "tests/support/sanitized.h"

namespace halite::storage::chunk {
namespace {

Bytes encoded(const Points& points, Level level) {
  Encoder encoder;
  Bytes bytes;
  encoder.encode(points.view(), level, bytes);
  return bytes;
}

Points decoded(BytesView bytes) {
  Decoder decoder;
  Points points;
  const auto done = decoder.decode(bytes, points);
  EXPECT_TRUE(done) << done.error().message;
  return points;
}

void expect_round_trip(const Points& points, const std::string& what) {
  for (const Level level : {Level::kFast, Level::kSealed}) {
    const Bytes bytes = encoded(points, level);
    ASSERT_EQ(decoded(bytes), points) << what;
    const auto header = read_header(bytes);
    ASSERT_TRUE(header) << what;
    EXPECT_EQ(header->count, points.size());
    EXPECT_EQ(header->first_time, points.times.front());
    EXPECT_EQ(header->last_time, points.times.back());
    EXPECT_EQ(header->last.has_value(), points.size() >= kStatisticsPointsMin) << what;
    if (header->last) {
      EXPECT_EQ(header->last->value, points.values.back());
      EXPECT_EQ(header->last->is_float, points.floats[points.size() - 1]);
    }
  }
}

TEST(Chunk, EveryShapeOfAnyLengthComesBackBitForBit) {
  Random random(1);
  for (const Shape& shape : all_shapes()) {
    for (const Beat beat : kBeats) {
      for (const std::size_t count :
           {1, 2, 3, 7, 8, 9, 63, 64, 127, 128, 129, 130, 360, 1025, 2500}) {
        const Points points = make_points(shape, beat, count, random);
        ASSERT_NO_FATAL_FAILURE(expect_round_trip(
            points, fmt::format("{} x {}, beat {}", shape.name, count, static_cast<int>(beat))));
      }
    }
  }
}

TEST(Chunk, APartIsWhatTheWholeHasThere) {
  Random random(7);
  Decoder decoder;
  for (const Shape& shape : all_shapes()) {
    for (const Beat beat : kBeats) {
      for (const std::size_t count : {1, 5, 130, 2049, 2050, 2051, 2880, 2881, 2882, 4097, 9000}) {
        // A sanitized build decodes every fourth by chance: it is much slower.
        if (test::kSanitized && random() % 4 != 0) continue;
        const Points points = make_points(shape, beat, count, random);
        const Bytes bytes = encoded(points, Level::kSealed);
        ASSERT_EQ(decoded(bytes), points);
        for (std::size_t i = 0; i < 8; i += test::step(1, 7)) {
          // Also where a segment ends.
          const std::size_t a =
              i >= 6 && count > 2880 ? std::min(count - 1, 2876 + random() % 8) : random() % count;
          const std::size_t b =
              std::min<std::size_t>(count - 1, a + random() % (i < 3 ? 50 : count));
          const TimeRange range = {
              .begin = points.times[a] - static_cast<TimestampMs>(random() % 2),
              .end = points.times[b] + static_cast<TimestampMs>(random() % 2)};
          Points wanted;
          for (std::size_t k = 0; k < count; ++k) {
            if (points.times[k] < range.begin || points.times[k] >= range.end) continue;
            wanted.push_back(points.times[k], points.values[k], points.floats[k]);
          }
          Points part;
          const auto done = decoder.decode(bytes, range, part);
          ASSERT_TRUE(done) << done.error().message;
          ASSERT_EQ(part, wanted) << fmt::format("{} x {}, beat {}", shape.name, count,
                                                 static_cast<int>(beat));
        }
      }
    }
  }
}

TEST(Chunk, RandomLengthsAndMixesOfShapes) {
  Random random(2);
  const std::vector<Shape> shapes = all_shapes();
  for (int round = 0; round < 400; ++round) {
    Points points;
    TimestampMs time = static_cast<TimestampMs>(random()) >> (1 + random() % 40);
    const std::size_t parts = 1 + random() % 3;
    for (std::size_t part = 0; part < parts; ++part) {
      NextValue next = shapes[random() % shapes.size()].start(random);
      const Beat beat = kBeats[random() % std::size(kBeats)];
      const std::size_t count = 1 + random() % (std::size_t{1} << (1 + random() % 11));
      for (std::size_t i = 0; i < count; ++i) {
        const ShapeValue value = next(random);
        points.push_back(time, value.bits, value.is_float);
        time += step_of(beat, random);
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_round_trip(points, fmt::format("round {}", round)));
  }
}

TEST(Chunk, TheMostPointsAndOneTimeEach) {
  Random random(3);
  const Shape shape = metric_shapes().front();
  expect_round_trip(make_points(shape, Beat::kJitter, kChunkPointsMax, random), "the most");
  for (const TimestampMs time : {TimestampMs{0}, std::numeric_limits<TimestampMs>::min(),
                                 std::numeric_limits<TimestampMs>::max(), TimestampMs{-1}}) {
    Points one;
    one.push_back(time, double_bits(-0.0), true);
    expect_round_trip(one, "one");
  }
  Points ends;
  ends.push_back(0, 1, false);
  ends.push_back(std::numeric_limits<TimestampMs>::max(), 2, false);
  expect_round_trip(ends, "both ends");
}

TEST(ChunkDeathTest, PointsOutOfOrderAreABug) {
  Points points;
  EXPECT_DEATH(encoded(points, Level::kFast), "1 to 2\\^17");
  points.push_back(2, 1, false);
  points.push_back(2, 1, false);
  EXPECT_DEATH(encoded(points, Level::kFast), "by time");
}

TEST(Chunk, ASliceEncodesAsItsPointsDo) {
  Random random(4);
  const Points points = make_points(all_shapes()[18], Beat::kGaps, 1000, random);
  for (const std::size_t begin : {0, 1, 63, 64, 65, 300}) {
    const PointsView slice = points.view().slice(begin, 200);
    Encoder encoder;
    Bytes bytes;
    encoder.encode(slice, Level::kSealed, bytes);
    Points expected;
    expected.append(slice);
    EXPECT_EQ(decoded(bytes), expected);
  }
}

TEST(Chunk, DecodingAppendsAndAnErrorLeavesWhatWasThere) {
  Random random(5);
  const Points first = make_points(all_shapes()[17], Beat::kSteady, 100, random);
  Points second = make_points(all_shapes()[1], Beat::kJitter, 300, random);
  for (auto& time : second.times) time += 1'000'000'000;
  const Bytes first_bytes = encoded(first, Level::kFast);
  const Bytes second_bytes = encoded(second, Level::kSealed);
  Decoder decoder;
  Points points;
  ASSERT_TRUE(decoder.decode(first_bytes, points));
  ASSERT_TRUE(decoder.decode(second_bytes, points));
  Points expected = first;
  expected.append(second.view());
  EXPECT_EQ(points, expected);
  const auto failed = decoder.decode(BytesView(second_bytes).substr(1), points);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kCorruption);
  EXPECT_EQ(points, expected);
}

TEST(Chunk, EveryFlippedBitIsCorruption) {
  Random random(6);
  const Bytes bytes =
      encoded(make_points(metric_shapes()[1], Beat::kJitter, 300, random), Level::kSealed);
  Decoder decoder;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    Bytes damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << (bit % 8));
    Points points;
    const auto done = decoder.decode(damaged, points);
    ASSERT_FALSE(done) << bit;
    ASSERT_EQ(done.error().code, Errc::kCorruption) << bit;
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Points points;
    ASSERT_FALSE(decoder.decode(BytesView(bytes).substr(0, size), points));
  }
}

// With a right CRC nothing but the decoder's own checks stands between damage and memory.
TEST(Chunk, DamageUnderARightCrcIsAnErrorOrPointsInOrder) {
  Random random(7);
  Decoder decoder;
  for (const Shape& shape : all_shapes()) {
    for (const Level level : {Level::kFast, Level::kSealed}) {
      const Bytes bytes = encoded(make_points(shape, Beat::kJitter, 200, random), level);
      for (int round = 0; round < 400; ++round) {
        Bytes damaged = bytes.substr(0, bytes.size() - 4);
        const std::size_t hits = 1 + random() % 3;
        for (std::size_t i = 0; i < hits; ++i) {
          damaged[random() % damaged.size()] = static_cast<char>(random());
        }
        if (random() % 8 == 0) damaged.resize(random() % damaged.size());
        append_be(damaged, crc32c(damaged));
        Points points;
        if (!decoder.decode(damaged, points)) {
          ASSERT_TRUE(points.empty());
          continue;
        }
        for (std::size_t i = 1; i < points.size(); ++i) {
          ASSERT_LT(points.times[i - 1], points.times[i]);
        }
        ASSERT_EQ(points.values.size(), points.size());
        ASSERT_EQ(points.floats.size(), points.size());
      }
    }
  }
}

TEST(Chunk, ALaterVersionIsUnsupported) {
  Points one;
  one.push_back(1, 1, false);
  Bytes bytes = encoded(one, Level::kFast);
  bytes[0] = 3;
  bytes.resize(bytes.size() - 4);
  append_be(bytes, crc32c(bytes));
  Decoder decoder;
  Points points;
  const auto done = decoder.decode(bytes, points);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::kUnsupported);
}

TEST(Chunk, StatisticsOfItsValues) {
  Points points;
  for (int i = 0; i < 64; ++i) points.push_back(i, integer_bits(i - 10), false);
  auto header = read_header(encoded(points, Level::kFast));
  ASSERT_TRUE(header);
  const Statistics expected{.sum = 2016 - 640, .min = -10, .max = 53, .sum_exact = true};
  EXPECT_EQ(header->statistics, expected);

  points.push_back(64, double_bits(0.5), true);
  header = read_header(encoded(points, Level::kSealed));
  ASSERT_TRUE(header && header->statistics);
  EXPECT_FALSE(header->statistics->sum_exact);
  EXPECT_EQ(header->statistics->sum, expected.sum + 0.5);

  points.push_back(65, double_bits(std::numeric_limits<double>::quiet_NaN()), true);
  header = read_header(encoded(points, Level::kSealed));
  ASSERT_TRUE(header);
  EXPECT_FALSE(header->statistics);
  EXPECT_TRUE(header->last);
}

// Where a change of the codecs would show; the bench prints the same for 24 h and many series.
TEST(Chunk, BytesAPointOfADay) {
  if (test::kSanitized) GTEST_SKIP() << "nothing but a figure";
  Random random(8);
  const std::vector<Shape> shapes = metric_shapes();
  const double most[] = {0.285, 1.12, 1.95, 1.28, 6.38};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    double bytes = 0;
    for (int series = 0; series < 10; ++series) {
      bytes += static_cast<double>(
          encoded(make_points(shapes[i], Beat::kSteady, 8640, random), Level::kSealed).size());
    }
    EXPECT_LE(bytes / 86'400, most[i]) << shapes[i].name;
  }
}

}  // namespace
}  // namespace halite::storage::chunk
