// Whatever the maintenance thread does, a flush does not wait long for it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/metric_value.h"
#include "tests/support/sanitized.h"
#include "tests/unit/storage/tsdb/forgetting_fixture.h"

namespace halite::storage {
namespace {

using test::run_task;

class MaintenanceBreathTest : public ForgettingTest {
 protected:
  void breathe_after_every_piece() {
    world_.options.maintenance_yield_ms = 0;
    reopen();
  }
  double gauge(const std::string& name) const { return test::metric_value(world_.metrics, name); }
  double breaths() const { return gauge("halite_engine_maintenance_breaths_total"); }

  // What rules ask for; it does not end before a flush that is asked for within it, or in vain.
  std::unique_ptr<SeriesIterator> walk_until_flushed() {
    return std::make_unique<EndsOnFlush>(*this);
  }

  class EndsOnFlush final : public SeriesIterator {
   public:
    explicit EndsOnFlush(MaintenanceBreathTest& test) : test_(test) {}
    Task<std::optional<std::vector<Bytes>>> next() override {
      if (!test_.flusher_.joinable()) test_.begin_flush();
      const bool in_vain = std::chrono::steady_clock::now() > test_.give_up_at_;
      if (test_.flushed_ || in_vain) co_return std::nullopt;
      std::this_thread::yield();
      co_return std::vector<Bytes>();
    }

   private:
    MaintenanceBreathTest& test_;
  };

  void begin_flush() {
    give_up_at_ = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    flusher_ = std::thread([this] { flushed_ = run_task(world_.points->flush()).has_value(); });
  }
  void expect_flushed_in_time() {
    ASSERT_TRUE(flusher_.joinable()) << "nobody walked";
    EXPECT_TRUE(flushed_);
    flusher_.join();
    EXPECT_LT(std::chrono::steady_clock::now(), give_up_at_);
  }

  std::thread flusher_;
  std::atomic<bool> flushed_ = false;
  std::chrono::steady_clock::time_point give_up_at_;
};

TEST_F(MaintenanceBreathTest, BetweenThePartsOfAWalkForNames) {
  breathe_after_every_piece();
  put({"stays", "gone"});
  rules_.others = [this] { return walk_until_flushed(); };
  world_.points->enable_series_gc(rules_);
  for (int hour = 0; hour < 6 && !flusher_.joinable(); ++hour) {
    world_.clock.advance(kHour);
    put({"stays"});
    settle();
  }
  expect_flushed_in_time();
}

TEST_F(MaintenanceBreathTest, BetweenThePartsOfAWalkForSeries) {
  breathe_after_every_piece();
  put({"stays", "gone"});
  rules_.keeps = [this](std::vector<Bytes> /*tsuids*/) { return walk_until_flushed(); };
  world_.points->enable_series_gc(rules_);
  for (int hour = 0; hour < 6 && !flusher_.joinable(); ++hour) {
    world_.clock.advance(kHour);
    put({"stays"});
    settle();
  }
  expect_flushed_in_time();
}

TEST_F(MaintenanceBreathTest, BetweenTheSeriesOfAnExpiredSlot) {
  constexpr int kManyHosts = 300;
  breathe_after_every_piece();
  put(generation_of(0, kManyHosts));
  settle();
  world_.clock.advance(kTtl + 2 * kHour);
  put({"stays"});
  const double before = breaths();
  settle();
  EXPECT_GE(breaths() - before, 1.0 * kManyHosts);
  expect_what_was_sent();
  EXPECT_EQ(hosts(), std::set<std::string>{"stays"});
}

// The next lap's points are flushed while the slot's old ones are removed.
TEST_F(MaintenanceBreathTest, WhatIsFlushedMeanwhileStays) {
  breathe_after_every_piece();
  std::atomic<bool> over = false;
  std::thread flusher([&] {
    while (!over) ASSERT_TRUE(run_task(world_.points->flush()));
  });
  for (int hour = 0; hour < 30; ++hour) {
    put(generation_of(hour % 3, 30));
    if (hour % 5 == 4) settle();
    world_.clock.advance(kHour);
    if (hour % 7 == 6) expect_what_was_sent();
  }
  over = true;
  flusher.join();
  settle();
  expect_what_was_sent();
  reopen();
  expect_what_was_sent();
}

// Measured. The bound is generous where the machine is slow or has much else to do, for then all of
// it takes longer.
TEST_F(MaintenanceBreathTest, AFlushWaitsATenthOfASecondAtMost) {
  constexpr int kManyHosts = test::kSanitized ? 4000 : 20'000;
  reopen();
  put(generation_of(0, kManyHosts));
  ASSERT_TRUE(run_task(world_.points->flush()));
  world_.clock.advance(kTtl + 2 * kHour);
  put({"stays"});
  ASSERT_TRUE(run_task(world_.points->flush()));
  const auto begin = std::chrono::steady_clock::now();
  settle();
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(hosts(), std::set<std::string>{"stays"});
  EXPECT_GT(gauge("halite_engine_maintenance_busy_seconds_max"), 0);
  EXPECT_LE(gauge("halite_engine_maintenance_busy_seconds_max"), std::max(0.1, all.count() / 3))
      << "of " << all.count() << " s";
}

}  // namespace
}  // namespace halite::storage
