#include "storage/head/head.h"

#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr TimeRange kAlways = {.begin = INT64_MIN, .end = INT64_MAX};

void append(Head& head, std::uint32_t shard, SeriesId id, TimestampMs time, std::int64_t value) {
  HeadShard& part = head.shard(shard);
  const std::lock_guard lock(part.mutex());
  auto place = head.place_of(id);
  if (!place) {
    place = part.add_series(id);
    head.set_place(id, *place);
  }
  part.append(*place, {.time = time, .value = integer_bits(value), .is_float = false});
}

chunk::Points read(const HeadPoints& points, TimeRange range = kAlways) {
  chunk::Points sorted;
  read_stream(points.bytes, points.ordered, range, sorted);
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

TEST(Head, StreamsGrowPastEveryPieceOfTheArena) {
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
