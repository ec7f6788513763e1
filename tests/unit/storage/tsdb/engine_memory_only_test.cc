// Reading from memory alone: the same points, or kUnavailable.
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "storage/api/read_context.h"
#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

using test::run_task;

constexpr std::size_t kPoints = 300;

class MemoryOnlyTest : public testing::Test {
 protected:
  MemoryOnlyTest() {
    world_.layout.salt_buckets = 2;
    world_.options.log.commit_interval_ms = 0;
    world_.options.maintenance_ms = 3'600'000;  // only when asked
  }

  void put() {
    const std::vector<SeriesId> ids = world_.intern({"a", "b", "c"}).value();
    PointBatch points;
    for (const SeriesId id : ids) {
      for (std::size_t i = 0; i < kPoints; ++i) {
        points.add(id, kNow - static_cast<TimestampMs>(i) * 60'000, integer_bits(7), 0);
      }
    }
    ASSERT_TRUE(run_task(world_.points->append(std::move(points))));
  }

  Result<std::size_t> count(ReadSource source) {
    SeriesQuery query;
    query.metric = "m";
    TRY(const auto selection,
        run_task(world_.points->select(std::move(query), {.source = source})));
    std::size_t points = 0;
    for (std::uint32_t shard = 0; shard < world_.points->shard_count(); ++shard) {
      const TimeRange all{.begin = 0, .end = std::numeric_limits<TimestampMs>::max()};
      const auto scan = world_.points->scan(selection, all, shard);
      for (;;) {
        TRY(const std::vector<Block> blocks, run_task(scan->next()));
        if (blocks.empty()) break;
        for (const Block& block : blocks) points += block.size();
      }
    }
    return points;
  }

  test::EngineWorld world_{1, kNow};
};

TEST_F(MemoryOnlyTest, TheHeadIsThere) {
  ASSERT_TRUE(world_.open());
  put();
  EXPECT_EQ(count(ReadSource::kMemory).value(), 3 * kPoints);
  ASSERT_TRUE(world_.close());
}

TEST_F(MemoryOnlyTest, ChunksAreOnceSomebodyReadThem) {
  ASSERT_TRUE(world_.open());
  put();
  ASSERT_TRUE(run_task(world_.points->flush()));
  ASSERT_TRUE(world_.close());
  ASSERT_TRUE(world_.open());
  const auto cold = count(ReadSource::kMemory);
  ASSERT_FALSE(cold);
  EXPECT_EQ(cold.error().code, Errc::kUnavailable);
  EXPECT_EQ(count(ReadSource::kDisk).value(), 3 * kPoints);
  EXPECT_EQ(count(ReadSource::kMemory).value(), 3 * kPoints);
  ASSERT_TRUE(world_.close());
}

}  // namespace
}  // namespace halite::storage
