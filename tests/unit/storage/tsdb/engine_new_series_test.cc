// Limits of new series where series get their rows only later.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

using test::run_task;

// Interns m{host=..}, with a point each; whether it was taken, by host.
std::vector<bool> send(test::EngineWorld& world, const std::vector<std::string>& hosts) {
  std::vector<SeriesName> names;
  for (const std::string& host : hosts) names.push_back({"m", {{"host", host}}});
  const auto ids = run_task(world.points->intern(names, CreateNames())).value();
  std::vector<bool> taken;
  PointBatch batch;
  for (const Result<SeriesId>& id : ids) {
    taken.push_back(id.has_value());
    if (id) batch.add(*id, world.clock.now_ms(), integer_bits(1), 0);
  }
  const Accepted accepted = run_task(world.points->append(std::move(batch))).value();
  EXPECT_TRUE(run_task(world.points->flush()));
  return taken;
}

TEST(EngineNewSeries, AnHourIsNotUsedUpByAStart) {
  test::EngineWorld world(1, kFullHour);
  world.options.new_series.per_hour = 2;
  ASSERT_TRUE(world.open());
  EXPECT_EQ(send(world, {"a", "b", "c", "a"}), (std::vector{true, true, false, true}));
  world.crash();  // they are in the log
  ASSERT_TRUE(world.open());
  EXPECT_EQ(send(world, {"a", "b"}), (std::vector{true, true}));
  EXPECT_EQ(send(world, {"d", "e", "f"}), (std::vector{true, true, false}));
  ASSERT_TRUE(world.close());  // they have rows
  ASSERT_TRUE(world.open());
  EXPECT_EQ(send(world, {"a", "b", "d", "e"}), (std::vector{true, true, true, true}));
  world.clock.set(kFullHour + kHourMs);
  EXPECT_EQ(send(world, {"f", "g", "h"}), (std::vector{true, true, false}));
  ASSERT_TRUE(world.close());
}

TEST(EngineNewSeries, OneMetricIsFullAndItsSeriesGoOn) {
  test::EngineWorld world(2, kFullHour);
  world.options.new_series.per_metric = 2;
  ASSERT_TRUE(world.open());
  EXPECT_EQ(send(world, {"a", "b", "c"}), (std::vector{true, true, false}));
  world.crash();
  ASSERT_TRUE(world.open());
  EXPECT_EQ(send(world, {"a", "b", "c"}), (std::vector{true, true, false}));
  ASSERT_EQ(world.points->over_quota(5).size(), 1u);
  EXPECT_EQ(world.points->over_quota(5)[0].metric, "m");
  ASSERT_TRUE(world.close());
}

}  // namespace
}  // namespace halite::storage
