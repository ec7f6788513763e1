#include <algorithm>

#include <gtest/gtest.h>

#include "tests/support/run_task.h"
#include "tests/unit/engine/engine_world.h"

namespace halite::storage {
namespace {

using test::run_task;

constexpr TimestampMs kNow = 1'700'000'000'000;
constexpr int kSlots = 1000;

// However many slots the points are for.
TEST(Flush, MakesAtMostOneFileAShard) {
  test::EngineWorld world(1, kNow);
  world.layout.salt_buckets = 4;
  world.options.log.commit_interval_ms = 0;
  world.options.maintenance_ms = 3'600'000;  // only when asked
  ASSERT_TRUE(world.open());
  const std::vector<SeriesId> ids = world.intern({"a", "b", "c", "d", "e", "f"}).value();
  const auto files = [&world] {
    const auto names = world.files->list("/data/engine/chunks").value();
    return std::ranges::count_if(names, [](const auto& name) { return name.ends_with(".sst"); });
  };
  // A file that says how far the log is in the others, and where an expiry was noted meanwhile one
  // of that, which RocksDB writes out first.
  constexpr int kMarks = 2;
  for (int flush = 1; flush <= 3; ++flush) {
    PointBatch points;
    for (int slot = 0; slot < kSlots; ++slot) {
      for (const SeriesId id : ids) points.add(id, kNow - slot * kDayMs, integer_bits(slot), 0);
    }
    ASSERT_TRUE(run_task(world.points->append(std::move(points))));
    const auto before = files();
    ASSERT_TRUE(run_task(world.points->flush()));
    EXPECT_LE(files() - before, 4 + kMarks);
  }
  EXPECT_EQ(world.read().value().size(), ids.size() * kSlots);
  ASSERT_TRUE(world.close());
}

}  // namespace
}  // namespace halite::storage
