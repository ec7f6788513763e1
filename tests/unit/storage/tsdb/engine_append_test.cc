// A batch is taken whole or not at all, also where its points are for many shards.
#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/run_task.h"
#include "tests/support/soon.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

using test::run_task;

std::vector<std::string> hosts(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("h{}", i));
  return names;
}

// Series of all shards, one of them with more points than a record holds: nothing of that is known
// when the first shard's points are taken.
TEST(EngineAppend, ABatchThatNoRecordCouldHoldIsTakenWhole) {
  test::EngineWorld world(1, kNow);
  world.layout.salt_buckets = 8;
  world.options.log.commit_interval_ms = 0;
  world.options.log.record_bytes_max = 64 << 10;
  ASSERT_TRUE(world.open());
  const std::vector<SeriesId> ids = world.intern(hosts(50)).value();
  constexpr int kPoints = 20'000;
  std::mt19937_64 random(1);
  PointBatch batch;
  for (const SeriesId id : ids) batch.add(id, kNow - kDayMs, integer_bits(1), 0);
  for (int i = 0; i < kPoints; ++i) {
    batch.add(ids[7], kNow - kHourMs + i, random(), kFloat | kMillis);
  }
  const std::size_t points = batch.size();
  const auto accepted = run_task(world.points->append(std::move(batch)));
  ASSERT_TRUE(accepted) << accepted.error().message;
  ASSERT_TRUE(run_task(accepted->durable.wait()));
  EXPECT_EQ(world.read().value().size(), points);
  world.crash();
  ASSERT_TRUE(world.open());
  EXPECT_EQ(world.read().value().size(), points);
  ASSERT_TRUE(world.close());
}

enum class Fate : std::uint8_t { kNone, kUnknown, kDurable };

// Writers of batches over many shards, while the disk is full now and then. The log finds out at
// any moment: while a batch is on its way from shard to shard, too.
class FullDisk {
 public:
  static constexpr int kWriters = 4;
  static constexpr int kBatches = 1500;  // of each
  static constexpr int kSeries = 48;

  FullDisk() : world_(1, kNow) {
    world_.layout.salt_buckets = 16;
    world_.options.log.commit_interval_ms = 0;
    world_.options.log.full_disk_retry_ms = 1;
  }

  test::EngineWorld& world() { return world_; }

  // What became of the batch of each time.
  std::map<TimestampMs, Fate> write(const std::vector<SeriesId>& ids) {
    std::vector<std::map<TimestampMs, Fate>> fates(kWriters);
    std::atomic<int> busy = kWriters;
    {
      std::vector<std::jthread> writers;
      for (int writer = 0; writer < kWriters; ++writer) {
        writers.emplace_back([&, writer] {
          for (int i = 0; i < kBatches; ++i) {
            const TimestampMs time = kNow - kDayMs + i * kWriters + writer;
            fates[static_cast<std::size_t>(writer)][time] = append(ids, time);
          }
          --busy;
        });
      }
      for (bool full = true; busy > 0; full = !full) {
        if (full) {
          world_.files->fail_writes(".log", {Errc::kOverloaded, "no space left", {}});
        } else {
          world_.files->heal();
        }
        // Longer without a fault: the log tries again only every millisecond.
        std::this_thread::sleep_for(std::chrono::microseconds(full ? 500 : 3000));
      }
    }
    world_.files->heal();
    std::map<TimestampMs, Fate> all;
    for (auto& one : fates) all.merge(one);
    return all;
  }

  // How many points there are of each time.
  std::map<TimestampMs, int> read() {
    std::map<TimestampMs, int> points;
    for (const auto& [key, value] : world_.read().value()) ++points[key.second];
    return points;
  }

  Fate append(const std::vector<SeriesId>& ids, TimestampMs time) {
    PointBatch batch;
    for (const SeriesId id : ids) batch.add(id, time, integer_bits(1), kMillis);
    const auto accepted = run_task(world_.points->append(std::move(batch)));
    if (!accepted) return Fate::kNone;
    return run_task(accepted->durable.wait()) ? Fate::kDurable : Fate::kUnknown;
  }

 private:
  test::EngineWorld world_;
};

TEST(EngineAppend, WhileADiskIsFullEachBatchIsTakenWholeOrNotAtAll) {
  FullDisk disk;
  test::EngineWorld& world = disk.world();
  ASSERT_TRUE(world.open());
  const std::vector<SeriesId> ids = world.intern(hosts(FullDisk::kSeries)).value();
  const std::map<TimestampMs, Fate> fates = disk.write(ids);
  std::map<Fate, int> met;
  const auto check = [&](bool restarted) {
    std::map<TimestampMs, int> points = disk.read();
    for (const auto& [time, fate] : fates) {
      ++met[fate];
      const int found = points[time];
      if (fate == Fate::kNone) EXPECT_EQ(found, 0) << time;
      if (fate == Fate::kDurable) EXPECT_EQ(found, FullDisk::kSeries) << time;
      // Readers see it, until a restart has its say.
      if (fate == Fate::kUnknown && !restarted) EXPECT_EQ(found, FullDisk::kSeries) << time;
    }
  };
  check(false);
  EXPECT_GT(met[Fate::kNone], 0);
  EXPECT_GT(met[Fate::kUnknown], 0);
  EXPECT_GT(met[Fate::kDurable], 0);
  ASSERT_TRUE(test::soon([&world] { return world.points->health().has_value(); }));
  world.crash();
  ASSERT_TRUE(world.open());
  check(true);
  ASSERT_TRUE(world.close());
}

// There is no way back from a failed sync: nothing is taken any more, and what was on its way is
// seen until the restart.
TEST(EngineAppend, AfterAFailedSyncNothingIsTakenInParts) {
  FullDisk disk;
  test::EngineWorld& world = disk.world();
  ASSERT_TRUE(world.open());
  const std::vector<SeriesId> ids = world.intern(hosts(FullDisk::kSeries)).value();
  ASSERT_EQ(disk.append(ids, kNow - 3), Fate::kDurable) << "and the names";
  world.files->fail_syncs(".log", {Errc::kUnavailable, "input/output error", {}});
  EXPECT_EQ(disk.append(ids, kNow - 2), Fate::kUnknown);
  EXPECT_EQ(disk.append(ids, kNow - 1), Fate::kNone);
  const int all = FullDisk::kSeries;
  EXPECT_EQ(disk.read(), (std::map<TimestampMs, int>{{kNow - 3, all}, {kNow - 2, all}}));
  world.files->heal();
  world.crash();
  ASSERT_TRUE(world.open());
  std::map<TimestampMs, int> kept = disk.read();
  EXPECT_EQ(kept[kNow - 3], all);
  EXPECT_EQ(kept[kNow - 1], 0);
  ASSERT_TRUE(world.close());
}

}  // namespace
}  // namespace halite::storage
