#include <algorithm>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/catalog/select_series.h"

namespace halite::storage {
namespace {

std::vector<SeriesId> sorted(const std::vector<SeriesId>& ids) {
  std::vector<LastPoint> points;
  for (const SeriesId id : ids) points.push_back({.series = id, .time = TimestampMs{id} * 10});
  sort_by_series(points);
  std::vector<SeriesId> found;
  for (const LastPoint& point : points) {
    EXPECT_EQ(point.time, TimestampMs{point.series} * 10);
    found.push_back(point.series);
  }
  return found;
}

TEST(SortBySeries, AnyNumberOfRunsOfAnyLength) {
  EXPECT_THAT(sorted({}), testing::IsEmpty());
  EXPECT_THAT(sorted({7}), testing::ElementsAre(7));
  EXPECT_THAT(sorted({1, 2, 3}), testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(sorted({5, 8, 1, 9, 2}), testing::ElementsAre(1, 2, 5, 8, 9));
  EXPECT_THAT(sorted({4, 3, 2, 1, 0}), testing::ElementsAre(0, 1, 2, 3, 4));
  std::mt19937 random(3);
  for (std::size_t shards = 2; shards < 40; ++shards) {
    std::vector<std::vector<SeriesId>> of_shard(shards);
    std::vector<SeriesId> all;
    for (SeriesId id = 0; id < 1000; ++id) {
      if (random() % 3 == 0) continue;
      all.push_back(id);
      of_shard[random() % shards].push_back(id);
    }
    std::vector<SeriesId> joined;
    for (const auto& ids : of_shard) joined.insert(joined.end(), ids.begin(), ids.end());
    ASSERT_EQ(sorted(joined), all);
  }
}

}  // namespace
}  // namespace halite::storage
