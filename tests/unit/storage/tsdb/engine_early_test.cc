#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/metric_value.h"
#include "tests/support/run_task.h"
#include "tests/support/soon.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

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

// A slot of one series, flushed into point by point: after which flush it is sealed.
class EarlySealingPace : public testing::Test {
 protected:
  void open(std::uint32_t long_points) {
    world_.options.log.commit_interval_ms = 0;
    world_.options.maintenance_ms = 1;
    world_.options.seal_long_points = long_points;
    ASSERT_TRUE(world_.open());
    id_ = world_.intern({"a"}).value().front();
  }
  void TearDown() override { EXPECT_TRUE(world_.close()); }

  double metric(const char* name) const { return test::metric_value(world_.metrics, name); }

  void flush(int times) {
    for (int i = 0; i < times; ++i) {
      PointBatch batch;
      ++points_;
      batch.add(id_, kFullHour + points_, integer_bits(points_), 0);
      ASSERT_TRUE(run_task(world_.points->append(std::move(batch))));
      ASSERT_TRUE(run_task(world_.points->flush()));
    }
    const double rounds = metric("halite_engine_maintenance_rounds_total");
    ASSERT_TRUE(
        test::soon([&] { return metric("halite_engine_maintenance_rounds_total") >= rounds + 2; }));
  }

  double sealed() const { return metric("halite_engine_sealed_points_total"); }

  test::EngineWorld world_{1, kNow};
  SeriesId id_ = 0;
  int points_ = 0;
};

TEST_F(EarlySealingPace, StaysWhereChunksStay) {
  open(10);
  flush(24);
  EXPECT_EQ(sealed(), 24);
  for (const int all : {72, 120, 168}) {
    flush(47);
    EXPECT_EQ(sealed(), all - 48);
    flush(1);
    EXPECT_EQ(sealed(), all);
  }
}

TEST_F(EarlySealingPace, SlowsDownWhereChunksAreSealedAgain) {
  open(1000);
  flush(24);
  EXPECT_EQ(sealed(), 24);
  flush(48);
  EXPECT_EQ(sealed(), 24 + 72);
  flush(48);
  EXPECT_EQ(sealed(), 24 + 72 + 120);
  flush(95);
  EXPECT_EQ(sealed(), 24 + 72 + 120) << "half of it was sealed before";
  flush(1);
  EXPECT_EQ(sealed(), 24 + 72 + 120 + 216);
}

// A series that gets very many points in a slot: what was sealed of it stays, as far as nothing
// came in front of its end.
class LongChunksTest : public testing::Test {
 protected:
  void SetUp() override {
    world_.options.log.commit_interval_ms = 0;
    world_.options.maintenance_ms = 3'600'000;  // only when asked
    world_.options.seal_long_points = 50;
    ASSERT_TRUE(world_.open());
  }
  void TearDown() override { EXPECT_TRUE(world_.close()); }

  void put(int begin_s, int end_s, TimestampMs off_ms = 0) {
    const SeriesId id = world_.intern({"a"}).value().front();
    PointBatch points;
    for (int second = begin_s; second < end_s; ++second) {
      const TimestampMs time = kFullHour + second * 1000 + off_ms;
      const int value = ++number_;
      points.add(id, time, integer_bits(value), 0);
      expected_[{"a", time}] = {.bits = integer_bits(value), .is_float = false};
    }
    ASSERT_TRUE(run_task(world_.points->append(std::move(points))));
    ASSERT_TRUE(run_task(world_.points->flush()));
  }

  void remove(int begin_s, int end_s) {
    const TimestampMs begin = kFullHour + begin_s * 1000;
    const TimestampMs end = kFullHour + end_s * 1000;
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(world_.points->select(std::move(query), {})).value();
    ASSERT_TRUE(run_task(world_.points->delete_range(selection, {.begin = begin, .end = end})));
    std::erase_if(expected_, [&](const auto& point) {
      return point.first.second >= begin && point.first.second < end;
    });
  }

  // How many points sealing writes. What is read is the same before and after, and by another
  // process.
  double sealed_now() {
    EXPECT_EQ(world_.read().value(), expected_);
    const double before = test::metric_value(world_.metrics, kSealed);
    EXPECT_TRUE(run_task(world_.points->seal()));
    const double sealed = test::metric_value(world_.metrics, kSealed) - before;
    EXPECT_EQ(world_.read().value(), expected_);
    EXPECT_TRUE(world_.close());
    EXPECT_TRUE(world_.open());
    EXPECT_EQ(world_.read().value(), expected_);
    return sealed;
  }

  static constexpr const char* kSealed = "halite_engine_sealed_points_total";
  test::EngineWorld world_{1, kFullHour + kHourMs / 2};
  test::WorldPoints expected_;
  int number_ = 0;
};

TEST_F(LongChunksTest, StayWhereNothingComesInFrontOfTheirEnds) {
  put(0, 100);
  EXPECT_EQ(sealed_now(), 100);
  put(100, 140);
  EXPECT_EQ(sealed_now(), 40);
  put(140, 150);
  EXPECT_EQ(sealed_now(), 50) << "what is short is sealed again";
  put(150, 160);
  EXPECT_EQ(sealed_now(), 10);
  EXPECT_EQ(sealed_now(), 0);
}

TEST_F(LongChunksTest, AreSealedAgainFromWherePointsCameLater) {
  put(0, 100);
  EXPECT_EQ(sealed_now(), 100);
  put(100, 200);
  put(200, 210);
  EXPECT_EQ(sealed_now(), 110);
  put(150, 152, 500);
  EXPECT_EQ(sealed_now(), 112);
  put(99, 100);
  EXPECT_EQ(sealed_now(), 212) << "the last point of the first chunk has another value";
}

TEST_F(LongChunksTest, AreSealedAgainFromWherePointsWereDeleted) {
  put(0, 100);
  EXPECT_EQ(sealed_now(), 100);
  put(100, 200);
  EXPECT_EQ(sealed_now(), 100);
  remove(100, 110);
  EXPECT_EQ(sealed_now(), 90);
  remove(99, 100);
  EXPECT_EQ(sealed_now(), 189);
  remove(0, 200);
  EXPECT_EQ(sealed_now(), 0);
  put(20, 30);
  EXPECT_EQ(sealed_now(), 10);
}

TEST_F(LongChunksTest, StayWhenTheSlotIsOver) {
  put(0, 100);
  EXPECT_EQ(sealed_now(), 100);
  put(100, 110);
  world_.clock.advance(2 * kHourMs);
  EXPECT_EQ(sealed_now(), 10);
  put(50, 51);  // late
  EXPECT_EQ(sealed_now(), 110);
}

}  // namespace
}  // namespace halite::storage
