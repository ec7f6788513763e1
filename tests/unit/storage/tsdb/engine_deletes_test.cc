#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "common/threads/work_budget.h"
#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

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
    const auto selection = run_task(world_.points->select(std::move(query), {})).value();
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

// Stops whoever asks it for the given time, until it is let go.
class StoppingBudget final : public WorkBudget {
 public:
  explicit StoppingBudget(int at) : left_(at) {}
  [[nodiscard]] Result<void> check() const override {
    if (armed_ && --left_ == 0) {
      reached_.set_value();
      go_on_.get_future().wait();
    }
    return {};
  }
  [[nodiscard]] Result<void> check_series(std::uint64_t /*more*/) const override { return {}; }
  [[nodiscard]] Result<void> add_bytes(std::int64_t /*count*/) override { return {}; }

  void arm() { armed_ = true; }
  void wait_until_reached() { reached_.get_future().wait(); }
  void let_go() { go_on_.set_value(); }

 private:
  std::atomic<bool> armed_ = false;
  mutable std::atomic<int> left_;
  mutable std::promise<void> reached_;
  mutable std::promise<void> go_on_;
};

// A delete that stands still while it reads what there is to delete.
class PreparedDeleteTest : public testing::Test {
 protected:
  static constexpr TimestampMs kOld = kMidnight - 3 * kDayMs;
  static constexpr int kPoints = 100;

  void SetUp() override {
    world_.options.log.commit_interval_ms = 0;
    world_.options.maintenance_ms = 3'600'000;  // only when asked
    world_.layout.salt_buckets = 2;
    ASSERT_TRUE(world_.open());
    for (int i = 0; i < 16; ++i) hosts_.push_back("h" + std::to_string(i));
    put(kOld, 1);
  }
  void TearDown() override {
    if (deleting_.joinable()) finish();
    EXPECT_TRUE(world_.close());
  }

  // Of all hosts.
  void put(TimestampMs begin, std::int64_t value) {
    const auto ids = world_.intern(hosts_).value();
    PointBatch points;
    for (const SeriesId id : ids) {
      for (int i = 0; i < kPoints; ++i) points.add(id, begin + i, integer_bits(value), 0);
    }
    ASSERT_TRUE(run_task(world_.points->append(std::move(points))));
  }

  // Of all times of the old slot; it stands still at so many looks at its watch.
  void begin(int stands_still_at) {
    budget_ = std::make_shared<StoppingBudget>(stands_still_at);
    SeriesQuery query;
    query.metric = "m";
    selection_ = run_task(world_.points->select(std::move(query), {.budget = budget_})).value();
    budget_->arm();
    deleting_ = std::thread([this] {
      deleted_ =
          run_task(world_.points->delete_range(selection_, {.begin = kOld, .end = kOld + kDayMs}));
    });
    budget_->wait_until_reached();
  }

  std::uint64_t finish() {
    budget_->let_go();
    deleting_.join();
    selection_.reset();
    return deleted_->value_or(0);
  }

  void expect_all(std::int64_t value) {
    const auto read = world_.read();
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->size(), hosts_.size() * kPoints);
    for (const auto& [key, point] : *read) {
      ASSERT_EQ(point.bits, integer_bits(value)) << key.first << " " << key.second;
    }
  }

  test::EngineWorld world_{1, kNow};
  std::vector<std::string> hosts_;
  std::shared_ptr<StoppingBudget> budget_;
  std::shared_ptr<const Selection> selection_;
  std::thread deleting_;
  std::optional<Result<std::uint64_t>> deleted_;
};

TEST_F(PreparedDeleteTest, FlushesGoOnAndWhatComesMeanwhileStays) {
  begin(1);
  put(kOld, 2);
  ASSERT_TRUE(run_task(world_.points->flush()));
  put(kOld + kPoints, 2);
  ASSERT_TRUE(run_task(world_.points->flush()));
  EXPECT_EQ(finish(), hosts_.size() * kPoints);
  const auto read = world_.read();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), hosts_.size() * kPoints * 2);
  for (const auto& [key, point] : *read) EXPECT_EQ(point.bits, integer_bits(2));
}

// Sealing joins what several flushes wrote under the greatest of their numbers: not over a delete.
TEST_F(PreparedDeleteTest, SealingMeanwhileSavesNothingFromIt) {
  begin(1);
  put(kOld + kPoints, 2);
  ASSERT_TRUE(run_task(world_.points->seal()));
  EXPECT_EQ(finish(), hosts_.size() * kPoints);
  expect_all(2);
  ASSERT_TRUE(run_task(world_.points->seal()));
  expect_all(2);
  EXPECT_EQ(world_.points->chunk_files().empty(), false);
}

TEST_F(PreparedDeleteTest, SealingLateDataMeanwhileSavesNothingFromIt) {
  ASSERT_TRUE(run_task(world_.points->seal()));
  begin(1);
  put(kOld + kPoints, 2);
  ASSERT_TRUE(run_task(world_.points->seal()));
  EXPECT_EQ(finish(), hosts_.size() * kPoints);
  expect_all(2);
  ASSERT_TRUE(run_task(world_.points->seal()));
  expect_all(2);
}

// Tombstones of the first shard are in a file already that takes them for those of an unsealed
// slot.
TEST_F(PreparedDeleteTest, ASlotThatIsSealedMeanwhileIsSealedOnceMore) {
  const auto ids = world_.intern(hosts_).value();
  int first_shard = 0;
  for (const SeriesId id : ids) first_shard += world_.points->series(id).shard == 0 ? 1 : 0;
  ASSERT_GT(first_shard, 0);
  ASSERT_LT(first_shard, static_cast<int>(hosts_.size()));
  begin(2 * first_shard + 1);  // two looks a series
  ASSERT_TRUE(run_task(world_.points->seal()));
  EXPECT_EQ(finish(), hosts_.size() * kPoints);
  EXPECT_TRUE(world_.read().value().empty());
  ASSERT_TRUE(run_task(world_.points->seal()));
  EXPECT_TRUE(world_.read().value().empty());
  SeriesQuery query;
  query.metric = "m";
  const auto selection = run_task(world_.points->select(std::move(query), {})).value();
  const auto estimate =
      run_task(world_.points->estimate(selection, {.begin = kOld, .end = kOld + kDayMs}));
  EXPECT_EQ(estimate.value().points, 0U) << "nothing is left to be read";
  put(kOld, 3);
  expect_all(3);
}

TEST_F(PreparedDeleteTest, ACrashMeanwhileLeavesAllAsItWas) {
  begin(1);
  put(kOld, 2);
  ASSERT_TRUE(run_task(world_.points->flush()));
  world_.files->cut_power();
  EXPECT_EQ(finish(), 0U);
  EXPECT_FALSE(*deleted_);
  std::ignore = world_.close();
  world_.files->restore_power();
  ASSERT_TRUE(world_.open());
  expect_all(2);
}

TEST_F(PreparedDeleteTest, OneAfterAnotherHasANumberOfItsOwn) {
  begin(1);
  SeriesQuery query;
  query.metric = "m";
  const auto selection = run_task(world_.points->select(std::move(query), {})).value();
  EXPECT_EQ(run_task(world_.points->delete_range(selection, {.begin = kOld, .end = kOld + 10})),
            hosts_.size() * 10);
  const std::uint64_t deleted = finish();
  EXPECT_GE(deleted, hosts_.size() * (kPoints - 10)) << "what the other one hid may be among them";
  EXPECT_LE(deleted, hosts_.size() * kPoints);
  EXPECT_TRUE(world_.read().value().empty());
}

}  // namespace
}  // namespace halite::storage
