// EngineOptions::log_points = false: what a bulk load that bypasses the log leaves.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

using test::run_task;
using test::WorldPoints;

class UnloggedTest : public testing::Test {
 protected:
  void SetUp() override {
    world_.layout.salt_buckets = 2;
    world_.options.log.commit_interval_ms = 0;
    world_.options.maintenance_ms = 3'600'000;  // only when asked
  }

  void open(bool log_points) {
    world_.options.log_points = log_points;
    const Result<void> opened = world_.open();
    ASSERT_TRUE(opened) << opened.error().message;
  }

  // A point of each host; those of a logging engine are durable.
  void append(const std::vector<std::string>& hosts, TimestampMs time, std::int64_t value,
              WorldPoints* expected) {
    const std::vector<SeriesId> ids = world_.intern(hosts).value();
    PointBatch points;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      points.add(ids[i], time, integer_bits(value), 0);
      if (expected != nullptr) {
        (*expected)[{hosts[i], time}] = {.bits = integer_bits(value), .is_float = false};
      }
    }
    const auto accepted = run_task(world_.points->append(std::move(points)));
    ASSERT_TRUE(accepted) << accepted.error().message;
    if (world_.options.log_points) ASSERT_TRUE(run_task(accepted->durable.wait()));
  }

  test::EngineWorld world_{1, kNow};
  const std::vector<std::string> hosts_ = {"a", "b", "c", "d", "e"};
};

TEST_F(UnloggedTest, KeepsWhatWasFlushedAndNothingElse) {
  open(false);
  WorldPoints expected;
  for (int i = 0; i < 100; ++i) append(hosts_, kNow - i * 1000, i, &expected);
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(run_task(world_.points->flush()));
  append(hosts_, kNow - 500, 7, nullptr);  // of known series
  append({"x", "y"}, kNow - 500, 7, nullptr);
  world_.crash();
  for (const bool logging : {false, true, false}) {
    open(logging);
    EXPECT_EQ(world_.read().value(), expected);
    world_.crash();
  }
  open(false);
  append({"a", "x"}, kNow - 500, 8, &expected);
  ASSERT_TRUE(run_task(world_.points->flush()));
  world_.crash();
  open(true);
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

TEST_F(UnloggedTest, FlushesWhenItCloses) {
  open(false);
  WorldPoints expected;
  append(hosts_, kNow, 1, &expected);
  ASSERT_TRUE(world_.close());
  world_.crash();
  open(true);
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

// The log of a server that was killed is replayed, and its points are older than those that follow.
TEST_F(UnloggedTest, FollowsPointsInTheLog) {
  open(true);
  WorldPoints logged;
  append(hosts_, kNow, 1, &logged);
  append(hosts_, kNow + 1000, 1, &logged);
  world_.crash();

  open(false);
  WorldPoints expected = logged;
  EXPECT_EQ(world_.read().value(), logged);
  append(hosts_, kNow, 2, nullptr);
  append({"z"}, kNow, 2, nullptr);
  world_.crash();  // before a flush: what was in the log is still there

  open(false);
  EXPECT_EQ(world_.read().value(), logged);
  append(hosts_, kNow, 3, &expected);
  append({"z"}, kNow, 3, &expected);
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(run_task(world_.points->flush()));
  world_.crash();

  open(true);
  EXPECT_EQ(world_.read().value(), expected);
  append(hosts_, kNow, 4, &expected);
  world_.crash();
  open(true);
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

TEST_F(UnloggedTest, ReportsPointsThatCannotBeFlushedAtTheEnd) {
  open(false);
  WorldPoints expected;
  append(hosts_, kNow - 5000, 1, &expected);
  ASSERT_TRUE(run_task(world_.points->flush()));
  append(hosts_, kNow, 2, nullptr);
  world_.files->set_capacity(world_.files->used_bytes());
  const Result<void> flushed = run_task(world_.points->flush());
  EXPECT_FALSE(flushed);
  const Result<void> closed = world_.close();
  ASSERT_FALSE(closed);
  world_.files->set_capacity(UINT64_MAX);
  open(true);
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

}  // namespace
}  // namespace halite::storage
