#include <gtest/gtest.h>

#include "tests/support/run_task.h"
#include "tests/unit/engine/engine_world.h"
#include "tests/unit/engine/instants.h"

namespace halite::storage {
namespace {

using test::run_task;

class DeletesTest : public testing::Test {
 protected:
  void SetUp() override {
    world_.options.log.commit_interval_ms = 0;
    world_.options.maintenance_ms = 3'600'000;  // only when asked
    ASSERT_TRUE(world_.open());
  }
  void TearDown() override { EXPECT_TRUE(world_.close()); }

  void put(TimestampMs begin, int count) {
    const SeriesId id = world_.intern({"a"}).value().front();
    PointBatch points;
    for (int i = 0; i < count; ++i) points.add(id, begin + i, integer_bits(i), 0);
    ASSERT_TRUE(run_task(world_.points->append(std::move(points))));
  }

  std::uint64_t remove(TimestampMs begin, TimestampMs end) {
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(world_.points->select(std::move(query))).value();
    return run_task(world_.points->delete_range(selection, {.begin = begin, .end = end})).value();
  }

  test::EngineWorld world_{1, kNow};
};

// Sealed points have the number of the newest that went into them, a delete's too.
TEST_F(DeletesTest, OneAfterAnotherWithoutAPointBetween) {
  put(kNow, 100);
  EXPECT_EQ(remove(kNow, kNow + 10), 10u);
  EXPECT_EQ(remove(kNow + 10, kNow + 20), 10u);
  ASSERT_TRUE(run_task(world_.points->seal()));
  EXPECT_EQ(remove(kNow + 20, kNow + 30), 10u);
  EXPECT_EQ(world_.read().value().size(), 70u);
  ASSERT_TRUE(run_task(world_.points->seal()));
  EXPECT_EQ(remove(kNow + 20, kNow + 40), 10u) << "what is gone is not counted again";
  ASSERT_TRUE(world_.close());
  ASSERT_TRUE(world_.open());
  EXPECT_EQ(remove(kNow + 40, kNow + 50), 10u);
  EXPECT_EQ(world_.read().value().size(), 50u);
}

TEST_F(DeletesTest, WhatComesAfterThemStays) {
  put(kNow, 100);
  EXPECT_EQ(remove(kNow, kNow + 100), 100u);
  put(kNow, 10);
  EXPECT_EQ(world_.read().value().size(), 10u);
  ASSERT_TRUE(run_task(world_.points->seal()));
  EXPECT_EQ(world_.read().value().size(), 10u);
  EXPECT_EQ(remove(kNow, kNow + 1), 1u);
  put(kNow, 1);
  world_.crash();
  ASSERT_TRUE(world_.open());
  EXPECT_GE(world_.read().value().size(), 9u);
}

}  // namespace
}  // namespace halite::storage
