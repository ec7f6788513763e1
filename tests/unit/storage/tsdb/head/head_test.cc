#include "storage/tsdb/head/head.h"

#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr TimeRange kAlways = {.begin = INT64_MIN, .end = INT64_MAX};

void append(Head& head, std::uint32_t shard, SeriesId id, const StreamPoint& point) {
  HeadShard& part = head.shard(shard);
  const std::lock_guard lock(part.mutex());
  auto place = head.position_of(id);
  if (!place) {
    place = part.add_series(id);
    head.set_position(id, *place);
  }
  part.append(*place, point);
  head.account(0, 1);
}

void append(Head& head, std::uint32_t shard, SeriesId id, TimestampMs time, std::int64_t value) {
  append(head, shard, id, {.time = time, .value = integer_bits(value), .is_float = false});
}

chunk::Points read(const HeadPoints& points, TimeRange range = kAlways) {
  chunk::Points sorted;
  read_points(points, range, sorted);
  return sorted;
}

TEST(Head, GivesBackWhatCameInOrderOfTime) {
  Head head(1, 4, 1000);
  append(head, 2, 7, 300, 3);
  append(head, 2, 7, 100, 1);
  append(head, 2, 7, 200, 2);
  const std::vector<SeriesId> wanted = {3, 7};
  const auto copies = head.copy(2, wanted, kAlways);
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].id, 7U);
  const chunk::Points points = read(copies[0]);
  EXPECT_THAT(points.times, ElementsAre(100, 200, 300));
  EXPECT_THAT(points.values, ElementsAre(1, 2, 3));
  EXPECT_EQ(points.view().float_count(), 0U);
}

TEST(Head, OfEqualTimesTheLastWins) {
  Head head(1, 1, 10);
  append(head, 0, 1, 100, 1);
  append(head, 0, 1, 200, 2);
  append(head, 0, 1, 100, 3);
  append(head, 0, 1, 100, 4);
  const std::vector<SeriesId> wanted = {1};
  const chunk::Points points = read(head.copy(0, wanted, kAlways).at(0));
  EXPECT_THAT(points.times, ElementsAre(100, 200));
  EXPECT_THAT(points.values, ElementsAre(4, 2));
}

TEST(Head, PointsInAnyOrderComeAsFromASortedMap) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    Head head(1, 1, 10);
    std::map<TimestampMs, std::pair<ValueBits, bool>> wanted;
    const std::uint64_t jitter = 1 + random() % 40;
    for (std::uint64_t i = 0; i < 100; ++i) {
      const StreamPoint point = {.time = static_cast<TimestampMs>(5 * i + random() % (5 * jitter)),
                                 .value = random() >> random() % 64,
                                 .is_float = random() % 3 == 0};
      append(head, 0, 1, point);
      wanted[point.time] = {point.value, point.is_float};
    }
    const std::vector<SeriesId> ids = {1};
    const chunk::Points points = read(head.copy(0, ids, kAlways).at(0));
    ASSERT_EQ(points.size(), wanted.size());
    for (std::size_t i = 0; const auto& [time, value] : wanted) {
      EXPECT_EQ(points.times[i], time);
      EXPECT_EQ(std::pair(points.values[i], points.floats[i]), value);
      ++i;
    }
  }
}

TEST(Head, ARangeLeavesOutWhatItDoesNotTouch) {
  Head head(1, 1, 10);
  append(head, 0, 1, 100, 1);
  append(head, 0, 1, 200, 2);
  append(head, 0, 2, 900, 9);
  const std::vector<SeriesId> wanted = {1, 2};
  const TimeRange range = {.begin = 150, .end = 900};
  const auto copies = head.copy(0, wanted, range);
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_THAT(read(copies[0], range).times, ElementsAre(200));
  EXPECT_THAT(head.copy(0, wanted, {.begin = 901, .end = 1000}), IsEmpty());
}

// Points of 1 to 18 bytes, so that ends of blocks fall everywhere into them.
TEST(Head, PointsThatRunOverTheEndsOfBlocksComeBack) {
  Head head(1, 1, 10);
  std::vector<TimestampMs> times;
  std::vector<ValueBits> values;
  std::mt19937_64 random(11);
  TimestampMs time = 1'700'000'000'000;
  const std::vector<SeriesId> wanted = {1};
  for (int i = 0; i < 3000; ++i) {
    time += random() % 4 == 0 ? static_cast<TimestampMs>(random() % 1'000'000'000) + 1 : 10'000;
    values.push_back(random() >> (random() % 64));
    times.push_back(time);
    append(head, 0, 1, time, static_cast<std::int64_t>(values.back()));
    if (i > 300 && i % 97 != 0) continue;
    const chunk::Points points = read(head.copy(0, wanted, kAlways).at(0));
    ASSERT_EQ(points.times, times);
    ASSERT_EQ(points.values, values);
  }
}

TEST(Head, LatePointsAreFoundInAnyRange) {
  Head head(1, 1, 10);
  append(head, 0, 1, 500, 5);
  append(head, 0, 1, 900, 9);
  append(head, 0, 1, 100, 1);
  const std::vector<SeriesId> wanted = {1};
  const TimeRange early = {.begin = 0, .end = 200};
  EXPECT_THAT(read(head.copy(0, wanted, early).at(0), early).times, ElementsAre(100));
  const TimeRange late = {.begin = 800, .end = 1000};
  EXPECT_THAT(read(head.copy(0, wanted, late).at(0), late).times, ElementsAre(900));
  std::uint64_t decode_left = 11;  // three points at a time
  EXPECT_EQ(head.last(0, wanted, kAlways, decode_left)->at(0).time, 900);
  EXPECT_EQ(decode_left, 8);
  EXPECT_EQ(head.last(0, wanted, {.begin = 0, .end = 900}, decode_left)->at(0).time, 500);
  EXPECT_THAT(*head.last(0, wanted, {.begin = 901, .end = 5000}, decode_left), IsEmpty());
  EXPECT_FALSE(head.last(0, wanted, kAlways, decode_left).has_value());
}

TEST(Head, NewestPointsOfManyComeInTheOrderAsked) {
  constexpr SeriesId kSeries = 1000;  // more than are looked at under one lock
  Head head(1, 1, kSeries);
  std::vector<SeriesId> wanted;
  for (SeriesId id = 0; id < kSeries; ++id) {
    wanted.push_back(id);
    if (id % 7 == 3) continue;  // has none
    append(head, 0, id, 500, std::int64_t{id});
    if (id % 5 == 0) append(head, 0, id, 300, std::int64_t{id} + 10'000);  // late
    if (id % 3 == 0) append(head, 0, id, 800, std::int64_t{id} + 20'000);
  }
  const auto found = [&](TimeRange range) {
    std::vector<std::pair<SeriesId, std::int64_t>> points;
    std::uint64_t decode_left = UINT64_MAX;
    const auto newest_points = head.last(0, wanted, range, decode_left);
    for (const LastPoint& point : newest_points.value()) {
      points.emplace_back(point.series, as_integer(point.value));
    }
    return points;
  };
  std::vector<std::pair<SeriesId, std::int64_t>> newest;
  std::vector<std::pair<SeriesId, std::int64_t>> early;  // before 400
  for (const SeriesId id : wanted) {
    if (id % 7 == 3) continue;
    newest.emplace_back(id, std::int64_t{id} + (id % 3 == 0 ? 20'000 : 0));
    if (id % 5 == 0) early.emplace_back(id, std::int64_t{id} + 10'000);
  }
  EXPECT_EQ(found(kAlways), newest);
  EXPECT_EQ(found({.begin = 0, .end = 400}), early);
}

TEST(Head, StreamsGrowPastEverySizeOfBlocks) {
  Head head(1, 1, 10);
  for (SeriesId i = 0; i < 200'000; ++i) append(head, 0, 1 + i % 2, i, std::int64_t{i} * i);
  const std::vector<SeriesId> wanted = {1, 2};
  for (const HeadPoints& copy : head.copy(0, wanted, kAlways)) {
    const chunk::Points points = read(copy);
    ASSERT_EQ(points.size(), 100'000U);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto n = static_cast<std::int64_t>(2 * i + (copy.id - 1));
      ASSERT_EQ(points.times[i], n);
      ASSERT_EQ(as_integer(points.values[i]), n * n);
    }
  }
}

TEST(Head, ShardsTakePointsAndGiveCopiesSideBySide) {
  Head head(1, 4, 100'000);
  std::vector<std::thread> threads;
  for (std::uint32_t shard = 0; shard < 4; ++shard) {
    threads.emplace_back([&head, shard] {
      for (SeriesId i = 0; i < 5'000; ++i) append(head, shard, i % 500 * 4 + shard, i, i);
    });
    threads.emplace_back([&head, shard] {
      std::vector<SeriesId> wanted;
      for (SeriesId i = 0; i < 500; ++i) wanted.push_back(i * 4 + shard);
      for (int i = 0; i < 20; ++i) {
        for (const HeadPoints& copy : head.copy(shard, wanted, kAlways)) {
          EXPECT_EQ(read(copy).size(), copy.points);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::size_t points = 0;
  for (std::uint32_t shard = 0; shard < 4; ++shard) {
    for (std::uint32_t i = 0; i < head.shard(shard).series_count(); ++i) {
      points += head.shard(shard).at(i).points;
    }
  }
  EXPECT_EQ(points, 20'000U);
}

}  // namespace
}  // namespace halite::storage
