// History: points for slots that have ended, of series that have nothing there. A flush seals them.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/metric_value.h"
#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

using test::run_task;
using test::WorldPoints;

constexpr int kDays = 30;
constexpr TimestampMs kBegin = kMidnight - (kDays + 2) * kDayMs;

class DirectTest : public testing::Test {
 protected:
  DirectTest() { world_.layout.salt_buckets = 1; }
  void SetUp() override {
    world_.options.log.commit_interval_ms = 0;
    world_.options.maintenance_ms = 3'600'000;  // only when asked
    world_.options.seal_directly_bytes = 1;
    ASSERT_TRUE(world_.open());
  }
  void TearDown() override {
    if (world_.points != nullptr) EXPECT_TRUE(world_.close());
  }

  // Points of a series on all days: one every two hours, from an hour of the day on.
  void send(const std::string& host, int hour, std::int64_t value) {
    const SeriesId id = world_.intern({host}).value().front();
    PointBatch batch;
    for (int at = hour; at < kDays * 24; at += 2) {
      const TimestampMs time = kBegin + at * kHourMs;
      batch.add(id, time, integer_bits(value + at), 0);
      expected_[{host, time}] = {.bits = integer_bits(value + at), .is_float = false};
    }
    ASSERT_TRUE(run_task(world_.points->append(std::move(batch))));
  }
  void flush() { ASSERT_TRUE(run_task(world_.points->flush())); }
  void seal() { ASSERT_TRUE(run_task(world_.points->seal())); }

  void check() {
    const auto found = world_.read();
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_TRUE(*found == expected_) << found->size() << " points, not " << expected_.size();
  }

  double metric(const std::string& name) const { return test::metric_value(world_.metrics, name); }
  double sealed_points() { return metric("halite_engine_sealed_points_total"); }

  test::EngineWorld world_{1, kNow};
  WorldPoints expected_;
};

TEST_F(DirectTest, WritesHistoryOnce) {
  for (int round = 0; round < 4; ++round) {  // before and after the slots count as sealed
    send(fmt::format("h{}", round), 0, round);
    flush();
    check();
    if (round % 2 == 1) seal();
    check();
  }
  EXPECT_EQ(sealed_points(), 0);
  EXPECT_EQ(metric("halite_engine_sealed_bytes_total"), 0);
  EXPECT_LT(metric("halite_engine_write_amplification"), 2);
  ASSERT_TRUE(world_.close());
  ASSERT_TRUE(world_.open());
  check();
}

TEST_F(DirectTest, LeavesSeriesWithChunksToSealing) {
  send("a", 0, 1);
  send("b", 0, 1);
  flush();
  send("a", 0, 1000);  // in place of the first ones
  send("a", 1, 1);
  send("c", 0, 1);
  flush();
  check();
  EXPECT_EQ(sealed_points(), 0);
  seal();
  EXPECT_EQ(sealed_points(), kDays * 24);  // only those of a
  check();
  send("a", 0, 2000);  // late by now
  send("d", 0, 1);
  flush();
  check();
  seal();
  EXPECT_EQ(sealed_points(), 2 * kDays * 24);
  check();
}

TEST_F(DirectTest, DeletesCount) {
  send("a", 0, 1);
  flush();
  SeriesQuery query;
  query.metric = "m";
  const TimeRange gone = {.begin = kBegin + kDayMs / 2, .end = kBegin + 3 * kDayMs};
  const auto selection = run_task(world_.points->select(std::move(query), {})).value();
  ASSERT_TRUE(run_task(world_.points->delete_range(selection, gone)));
  std::erase_if(expected_, [&gone](const auto& point) {
    return point.first.second >= gone.begin && point.first.second < gone.end;
  });
  check();
  send("b", 0, 1);
  send("a", 1, 1);
  flush();
  check();
  seal();
  check();
}

TEST_F(DirectTest, SealsNothingInSlotsThatMayGetMore) {
  world_.clock.set(kBegin + kDayMs * kDays + world_.options.seal_quiet_ms - 1);
  send("a", 0, 1);
  flush();
  seal();
  EXPECT_EQ(sealed_points(), 12);  // the last day's
  check();
}

TEST_F(DirectTest, FewBytesGetNoFilesOfTheirOwn) {
  ASSERT_TRUE(world_.close());
  world_.options.seal_directly_bytes = 1 << 20;
  ASSERT_TRUE(world_.open());
  send("a", 0, 1);
  flush();
  seal();
  EXPECT_EQ(sealed_points(), kDays * 12);  // the flush sealed none
  check();
}

// Files for many slots, which no sealing replaces: there are never too many.
TEST_F(DirectTest, FilesAreCompacted) {
  for (int round = 0; round < 40; ++round) {
    send(fmt::format("h{}", round), 0, round);
    flush();
    if (round % 4 == 3) seal();
  }
  EXPECT_EQ(sealed_points(), 0);
  EXPECT_GT(metric("halite_engine_merged_bytes_total"), 0);
  EXPECT_LT(metric("halite_engine_chunk_files"), kDays + 12);
  check();
}

}  // namespace
}  // namespace halite::storage
