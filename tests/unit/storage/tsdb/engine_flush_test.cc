#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "storage/tsdb/core/head_list.h"
#include "tests/support/run_task.h"
#include "tests/support/soon.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

using test::run_task;

constexpr int kFlushed = 1000;

// However many slots the points are for: one of chunks, one of sealed chunks, one of summaries.
TEST(Flush, MakesAtMostThreeFilesAShard) {
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
    for (int slot = 0; slot < kFlushed; ++slot) {
      for (const SeriesId id : ids) points.add(id, kNow - slot * kDayMs, integer_bits(slot), 0);
    }
    ASSERT_TRUE(run_task(world.points->append(std::move(points))));
    const auto before = files();
    ASSERT_TRUE(run_task(world.points->flush()));
    EXPECT_LE(files() - before, 4 * 3 + kMarks);
  }
  EXPECT_EQ(world.read().value().size(), ids.size() * kFlushed);
  ASSERT_TRUE(world.close());
}

// Nobody else makes room: chunks are smaller than what they take from the log.
TEST(Flush, MakesRoomWhereTheLogHasFilledTheDisk) {
  test::EngineWorld world(1, kNow);
  world.options.maintenance_ms = 10;
  world.options.log.full_disk_retry_ms = 10;
  world.options.log.commit_interval_ms = 0;
  world.options.log.reserve_bytes = 256 << 10;
  ASSERT_TRUE(world.open());
  const SeriesId id = world.intern({"a"}).value().front();
  world.files->set_capacity(world.files->used_bytes() + (3 << 19));
  std::mt19937_64 random(1);
  int refused = 0;
  constexpr int kBatches = 200;
  constexpr int kPoints = 5000;
  for (int batch = 0; batch < kBatches; ++batch) {
    PointBatch points;
    for (int i = 0; i < kPoints; ++i) {
      points.add(id, kNow - kDayMs + (batch * kPoints + i), integer_bits(random() % 4), 0);
    }
    const auto taken = [&]() -> bool {
      PointBatch copy = points;
      const auto accepted = run_task(world.points->append(std::move(copy)));
      return accepted && run_task(accepted->durable.wait());
    };
    for (int tries = 0; !taken(); ++tries) {
      ASSERT_LT(tries, 10'000) << "batch " << batch;
      ++refused;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(world.read().value().size(), std::size_t{kBatches} * kPoints);
  ASSERT_TRUE(world.close());
}

// The head is full by its bytes, or by its points where each series has many.
TEST(Flush, IsDueByBytesOrByLongRuns) {
  EngineOptions options;
  options.head_freeze_bytes = 1000;
  options.head_freeze_points = 100;
  options.head_run_points = 10;
  const auto is_full = [&options](std::int64_t bytes, std::uint64_t points, std::uint64_t series) {
    engine::HeadList head_list(0, 1, 100, 0);
    head_list.write().head().account(bytes, points, series);
    return head_list.active_is_full(options.head_freeze_bytes, options);
  };
  EXPECT_FALSE(is_full(0, 0, 0));
  EXPECT_FALSE(is_full(999, 99, 1));
  EXPECT_TRUE(is_full(1000, 1, 1));
  EXPECT_TRUE(is_full(999, 100, 10));
  EXPECT_FALSE(is_full(999, 100, 11));
  EXPECT_TRUE(is_full(999, 110, 11));
}

// memory_users() of an engine, by setting.
MemoryUser user_of(EngineStore& store, std::string_view setting) {
  for (MemoryUser& user : store.memory_users()) {
    if (user.setting == setting) return std::move(user);
  }
  return {};
}

TEST(Flush, ComesEarlierWhereTheHeadsHaveLessMemory) {
  test::EngineWorld world(1, kNow);
  world.options.log.commit_interval_ms = 0;
  world.options.head_freeze_bytes = 128 << 20;
  world.options.head_bytes_max = 512 << 20;
  ASSERT_TRUE(world.open());
  const MemoryUser heads = user_of(*world.points, "engine.head_bytes_max");
  const SeriesId id = world.intern({"a"}).value().at(0);
  const auto append = [&world, id](int begin) {
    PointBatch points;
    for (int i = begin; i < begin + 10'000; ++i) points.add(id, kNow - i, integer_bits(i), 0);
    return run_task(world.points->append(std::move(points))).has_value();
  };
  ASSERT_TRUE(append(0));
  EXPECT_GT(heads.used(), 10'000U);
  EXPECT_EQ(heads.needed() / 1000, heads.used() * 4 / 1000);  // one is flushed, one fills
  heads.resize(4 * 1024);
  ASSERT_TRUE(append(10'000));  // waits for the flush
  EXPECT_TRUE(test::soon([&] { return heads.used() < 4 * 1024; }));
  heads.resize(512 << 20);
  ASSERT_TRUE(append(20'000));
  EXPECT_GT(heads.used(), 10'000U);
  EXPECT_EQ(world.read().value().size(), 30'000U);
  ASSERT_TRUE(world.close());
}

TEST(Flush, BlocksOfItsChunksTakeNoMoreMemoryThanTheirCacheMay) {
  test::EngineWorld world(1, kNow);
  ASSERT_TRUE(world.open());
  const MemoryUser blocks = user_of(*world.points, "engine.block_cache_bytes");
  const SeriesId id = world.intern({"a"}).value().at(0);
  PointBatch points;
  std::mt19937_64 random(1);
  for (int i = 0; i < 50'000; ++i) points.add(id, kNow - i, integer_bits(random()), 0);
  ASSERT_TRUE(run_task(world.points->append(std::move(points))));
  ASSERT_TRUE(run_task(world.points->flush()));
  EXPECT_EQ(world.read().value().size(), 50'000U);
  EXPECT_GT(blocks.used(), 100'000U);
  blocks.resize(10'000);
  EXPECT_LE(blocks.used(), 10'000U);
  EXPECT_EQ(world.read().value().size(), 50'000U);
  EXPECT_LE(blocks.used(), 10'000U);
  blocks.resize(64 << 20);
  EXPECT_EQ(world.read().value().size(), 50'000U);
  EXPECT_GT(blocks.used(), 100'000U);
  ASSERT_TRUE(world.close());
}

TEST(Flush, ComesByItselfOfLongRuns) {
  test::EngineWorld world(1, kNow);
  world.options.log.commit_interval_ms = 0;
  world.options.head_freeze_points = 1000;
  world.options.head_run_points = 500;
  ASSERT_TRUE(world.open());
  const SeriesId id = world.intern({"a"}).value().at(0);
  const auto files = [&world] {
    const auto names = world.files->list("/data/engine/chunks").value();
    return std::ranges::count_if(names, [](const auto& name) { return name.ends_with(".sst"); });
  };
  const auto before = files();
  PointBatch points;
  for (int i = 0; i < 1000; ++i) points.add(id, kNow - i * 1000, integer_bits(i), 0);
  ASSERT_TRUE(run_task(world.points->append(std::move(points))));
  EXPECT_TRUE(test::soon([&] { return files() > before; }));
  EXPECT_EQ(world.read().value().size(), 1000U);
  ASSERT_TRUE(world.close());
}

}  // namespace
}  // namespace halite::storage
