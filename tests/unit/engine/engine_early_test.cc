#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/metric_value.h"
#include "tests/support/run_task.h"
#include "tests/support/soon.h"
#include "tests/unit/engine/engine_world.h"
#include "tests/unit/engine/instants.h"

namespace halite::storage {
namespace {

using test::run_task;

// A slot that is sealed although it still gets points, also while that is done.
TEST(EarlySealing, TakesAwayTheFilesOfASlotThatStillGetsPoints) {
  constexpr std::uint32_t kShardCount = 4;
  constexpr int kSeriesPut = 400;
  constexpr int kFlushesBefore = 24;
  constexpr int kFlushesMeanwhile = 16;
  test::EngineWorld world(1, kNow);
  world.layout.salt_buckets = kShardCount;
  world.options.log.commit_interval_ms = 0;
  world.options.maintenance_ms = 1;
  world.options.seal_cpu_percent = 10;  // slow: flushes come between two series
  ASSERT_TRUE(world.open());
  std::vector<std::string> hosts;
  for (int i = 0; i < kSeriesPut; ++i) hosts.push_back(fmt::format("h{}", i));
  const std::vector<SeriesId> ids = world.intern(hosts).value();
  test::WorldPoints expected;
  const auto flush = [&](int number) {
    PointBatch batch;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const TimestampMs time = kNow - kHourMs + number * 1000;
      batch.add(ids[i], time, integer_bits(number), 0);
      expected[{hosts[i], time}] = {.bits = integer_bits(number), .is_float = false};
    }
    ASSERT_TRUE(run_task(world.points->append(std::move(batch))));
    ASSERT_TRUE(run_task(world.points->flush()));
  };
  const auto metric = [&world](const char* name) {
    return test::metric_value(world.metrics, name);
  };
  for (int i = 0; i < kFlushesBefore; ++i) flush(i);
  ASSERT_TRUE(test::soon([&] { return metric("halite_engine_sealed_points_total") > 0; }));
  for (int i = 0; i < kFlushesMeanwhile; ++i) flush(kFlushesBefore + i);
  const double rounds = metric("halite_engine_maintenance_rounds_total");
  ASSERT_TRUE(
      test::soon([&] { return metric("halite_engine_maintenance_rounds_total") >= rounds + 2; }));

  EXPECT_LE(metric("halite_engine_chunk_files"), kShardCount * (1 + kFlushesMeanwhile));
  EXPECT_EQ(world.read().value(), expected);
  ASSERT_TRUE(world.close());
  ASSERT_TRUE(world.open());
  EXPECT_EQ(world.read().value(), expected);
  ASSERT_TRUE(world.close());
}

}  // namespace
}  // namespace halite::storage
