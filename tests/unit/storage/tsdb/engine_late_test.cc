#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/version.h>

#include "tests/support/metric_value.h"
#include "tests/support/run_task.h"
#include "tests/support/sanitized.h"
#include "tests/support/soon.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

using test::run_task;
using test::WorldPoints;

// Points that come for slots after these were sealed.
class LateTest : public testing::Test {
 protected:
  explicit LateTest(std::uint32_t shards = 4) { world_.layout.salt_buckets = shards; }
  void SetUp() override {
    world_.options.log.commit_interval_ms = 0;
    world_.options.maintenance_ms = 1;  // work is looked for all the time; when, says the clock
    world_.options.seal_quiet_ms = 0;
    ASSERT_TRUE(world_.open());
  }
  void TearDown() override {
    if (world_.points != nullptr) EXPECT_TRUE(world_.close());
  }

  void series(int count) {
    std::vector<std::string> hosts;
    for (int i = 0; i < count; ++i) hosts.push_back(fmt::format("h{:04}", i));
    ids_ = world_.intern(hosts).value();
    hosts_ = hosts;
  }

  void put(PointBatch& batch, std::size_t series, TimestampMs time, std::int64_t value) {
    batch.add(ids_[series], time, integer_bits(value), 0);
    expected_[{hosts_[series], time}] = {.bits = integer_bits(value), .is_float = false};
  }
  void send(PointBatch batch) { ASSERT_TRUE(run_task(world_.points->append(std::move(batch)))); }
  void flush() { ASSERT_TRUE(run_task(world_.points->flush())); }
  void seal() { ASSERT_TRUE(run_task(world_.points->seal())); }

  // A day of points of every series, sealed.
  void sealed_day(int points) {
    PointBatch batch;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      std::int64_t value = 50;
      for (int at = 0; at < points; ++at) {
        value += static_cast<std::int64_t>(random_() % 3) - 1;
        put(batch, i, kMidnight - kDayMs + at * (kDayMs / points), value);
      }
    }
    send(std::move(batch));
    world_.clock.advance(kHourMs);
    seal();
  }

  double metric(const std::string& name) const { return test::metric_value(world_.metrics, name); }
  double sealed_points() { return metric("halite_engine_sealed_points_total"); }

  // Until what is due now has been done: a whole round of looking for work has passed.
  void settle() {
    const double before = metric("halite_engine_maintenance_rounds_total");
    ASSERT_TRUE(
        test::soon([&] { return metric("halite_engine_maintenance_rounds_total") >= before + 2; }));
  }

  void check() {
    const auto found = world_.read();
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_TRUE(*found == expected_) << found->size() << " points, not " << expected_.size();
  }

  std::mt19937 random_{1};
  test::EngineWorld world_{1, kMidnight};
  std::vector<SeriesId> ids_;
  std::vector<std::string> hosts_;
  WorldPoints expected_;
};

TEST_F(LateTest, FewLatePointsStayApartAndManyAreSealedWithTheirSeriesAlone) {
  series(20);
  sealed_day(288);
  const double before = sealed_points();
  EXPECT_EQ(before, 20 * 288);
  PointBatch few;
  put(few, 3, kMidnight - kHourMs + 1, 7);
  put(few, 4, kMidnight - kHourMs * 5, 8);  // in place of one that was there
  send(std::move(few));
  flush();
  world_.clock.advance(2 * kHourMs);
  settle();
  check();
  EXPECT_EQ(sealed_points(), before);

  PointBatch many;
  for (int i = 0; i < 3000; ++i) put(many, 3, kMidnight - kHourMs * 6 + i * 1001, 1000 * (i % 7));
  send(std::move(many));
  flush();
  world_.clock.advance(2 * kHourMs);
  settle();
  check();
  std::size_t of_one = 0;
  for (const auto& [key, value] : expected_) of_one += key.first == hosts_[3] ? 1 : 0;
  EXPECT_EQ(sealed_points(), before + static_cast<double>(of_one));

  seal();
  check();
  ASSERT_TRUE(world_.close());
  ASSERT_TRUE(world_.open());
  check();
}

TEST_F(LateTest, ASlotIsLookedThroughAtMostOnceAnInterval) {
  series(1);
  sealed_day(24);
  const auto late = [this](int from) {
    PointBatch batch;
    for (int i = 0; i < 200; ++i)
      put(batch, 0, kMidnight - kHourMs * 3 + 1 + (from + i) * 7,
          static_cast<std::int64_t>(random_() % 100'000));
    send(std::move(batch));
    flush();
  };
  world_.clock.advance(kHourMs);
  settle();  // looked, and there is nothing
  const double before = sealed_points();
  late(0);
  world_.clock.advance(kHourMs / 2);
  settle();
  EXPECT_EQ(sealed_points(), before);
  world_.clock.advance(kHourMs / 2);
  settle();
  EXPECT_EQ(sealed_points(), before + 224);
  late(1000);
  settle();
  EXPECT_EQ(sealed_points(), before + 224);
  check();
}

TEST_F(LateTest, DeletesAndOverwritesOfSealedSlotsCount) {
  series(8);
  sealed_day(288);
  SeriesQuery query;
  query.metric = "m";
  const TimeRange gone = {.begin = kMidnight - 8 * kHourMs, .end = kMidnight - 4 * kHourMs};
  const auto selection = run_task(world_.points->select(std::move(query), {})).value();
  ASSERT_TRUE(run_task(world_.points->delete_range(selection, gone)));
  std::erase_if(expected_, [&gone](const auto& point) {
    return point.first.second >= gone.begin && point.first.second < gone.end;
  });
  check();
  PointBatch batch;
  for (std::size_t i = 0; i < ids_.size(); i += 2) put(batch, i, kMidnight - 6 * kHourMs, 99);
  send(std::move(batch));
  flush();
  check();
  seal();
  check();
}

// What of a thousand series is in one of twenty shards and more.
class StragglersTest : public LateTest {
 protected:
  // Direct sealing would leave one file for all slots, and its first compaction counts as well.
  StragglersTest() : LateTest(1) { world_.options.seal_directly_bytes = UINT64_MAX; }
};

// One late point a series and minute, for the same minute of one of the 30 days before, which were
// sealed long ago.
TEST_F(StragglersTest, AreWrittenLessThanThreeTimes) {
  constexpr int kSlots = 30;
  constexpr int kSeries = test::kSanitized ? 8 : 40;
  constexpr int kFlushes = test::kSanitized ? 6 : 60;
  constexpr int kMinutes = 120;  // a flush
  series(kSeries);
  PointBatch old;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    for (int at = 0; at < kSlots * 144; ++at) {
      put(old, i, kMidnight - kSlots * kDayMs + TimestampMs{at} * 600'000,
          static_cast<std::int64_t>(random_() % 50));
    }
  }
  send(std::move(old));
  world_.clock.advance(kHourMs);
  seal();
  ASSERT_TRUE(world_.close());  // what is written is counted from the start on
  ASSERT_TRUE(world_.open());
  series(kSeries);
  const TimestampMs begin = world_.clock.now_ms();
  for (int round = 0; round < kFlushes; ++round) {
    PointBatch batch;
    for (int minute = 0; minute < kMinutes; ++minute) {
      const TimestampMs now = begin + TimestampMs{round * kMinutes + minute} * 60'000;
      for (std::size_t i = 0; i < ids_.size(); ++i) {
        const auto days = static_cast<TimestampMs>(1 + random_() % kSlots);
        put(batch, i, (now - days * kDayMs) / 60'000 * 60'000 + 1,
            static_cast<std::int64_t>(random_() % 50));
      }
    }
    send(std::move(batch));
    flush();
    world_.clock.advance(TimestampMs{kMinutes} * 60'000);
    settle();
  }
  check();
  if (test::kSanitized) return;  // the figure is one of a long time
  const double amplification = metric("halite_engine_write_amplification");
  EXPECT_GT(sealed_points(), kSlots * kSeries * 144);  // it came to that
  RecordProperty("amplification", fmt::format("{:.2f}", amplification));
  EXPECT_GT(amplification, 1);
  EXPECT_LT(amplification, ROCKSDB_MAJOR > 7 ? 3.5 : 3);  // docs/decisions/0106
}

}  // namespace
}  // namespace halite::storage
