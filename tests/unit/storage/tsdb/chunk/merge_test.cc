#include "storage/tsdb/chunk/merge.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include <gtest/gtest.h>

namespace halite::storage::chunk {
namespace {

Points run_of(TimestampMs begin, TimestampMs end, TimestampMs step, std::uint64_t value,
              bool is_float = false) {
  Points points;
  for (TimestampMs time = begin; time < end; time += step) points.push_back(time, value, is_float);
  return points;
}

TEST(Merge, NothingAndOne) {
  EXPECT_TRUE(merge({}).empty());
  EXPECT_EQ(merge({{1, run_of(0, 10, 1, 5)}}), run_of(0, 10, 1, 5));
  EXPECT_EQ(merge({{1, {}}, {2, run_of(0, 10, 1, 5)}, {3, {}}}), run_of(0, 10, 1, 5));
}

TEST(Merge, RunsInARowAreJoinedWhateverTheirOrder) {
  Points expected = run_of(0, 10, 1, 1);
  expected.append(run_of(10, 20, 1, 2, true).view());
  EXPECT_EQ(merge({{1, run_of(0, 10, 1, 1)}, {2, run_of(10, 20, 1, 2, true)}}), expected);
  EXPECT_EQ(merge({{2, run_of(0, 10, 1, 1)}, {1, run_of(10, 20, 1, 2, true)}}), expected);
}

TEST(Merge, TheHigherFlushNumberWinsWithItsType) {
  const Points merged = merge({{7, run_of(0, 1, 1, 70, true)}, {3, run_of(0, 60, 1, 30)}});
  ASSERT_EQ(merged.size(), 60u);
  EXPECT_EQ(merged.values[0], 70u);
  EXPECT_TRUE(merged.floats[0]);
  EXPECT_EQ(merged.values[1], 30u);
  EXPECT_FALSE(merged.floats[1]);
}

TEST(Merge, EqualsAMapFilledInFlushOrder) {
  std::mt19937_64 random(20261121);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t count = 1 + random() % 9;
    const auto span = static_cast<TimestampMs>(1 + random() % 300);
    std::vector<FlushedRun> runs;
    for (std::size_t i = 0; i < count; ++i) {
      std::map<TimestampMs, bool> times;
      const std::size_t points = random() % 100;
      const auto begin = static_cast<TimestampMs>(random() % 200);
      for (std::size_t p = 0; p < points; ++p) {
        times[begin + static_cast<TimestampMs>(random()) % span] = random() % 2 == 0;
      }
      FlushedRun run{.flush_number = i * 10, .points = {}};
      for (const auto& [time, is_float] : times) run.points.push_back(time, random(), is_float);
      runs.push_back(std::move(run));
    }
    std::map<TimestampMs, std::pair<ValueBits, bool>> expected;
    for (const FlushedRun& run : runs) {
      for (std::size_t i = 0; i < run.points.size(); ++i) {
        expected[run.points.times[i]] = {run.points.values[i], run.points.floats[i]};
      }
    }
    Points wanted;
    for (const auto& [time, point] : expected) wanted.push_back(time, point.first, point.second);
    std::shuffle(runs.begin(), runs.end(), random);
    ASSERT_EQ(merge(std::move(runs)), wanted) << "round " << round;
  }
}

}  // namespace
}  // namespace halite::storage::chunk
