// Several laps of a ring on a clock that stands still: what is older than the TTL never answers,
// and what is stored does not grow.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "storage/backends/memory/memory_store.h"
#include "storage/tsdb/engine_store.h"
#include "tests/support/faulty_files.h"
#include "tests/support/metric_value.h"
#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

constexpr std::int64_t kTtl = 3 * kHourMs;
constexpr std::uint32_t kRingSlots = 8;

class ExpiryTest : public testing::Test {
 protected:
  void SetUp() override { open(); }
  void TearDown() override { close(); }

  void open() {
    CyclicOptions cyclic;
    cyclic.salt_buckets = 2;
    cyclic.span_ms = kHourMs;
    cyclic.slots = kRingSlots;
    cyclic.ttl_ms = kTtl;
    cyclic.future_max_ms = kHourMs / 2;
    cyclic.cleaning_ms = kHourMs;
    EngineOptions options;
    options.dir = "/data/engine";
    options.log.segment_bytes = 16 << 20;
    options.log.commit_interval_ms = 0;
    options.expiry_interval_ms = 1000;
    options.expire_after_clock_jump = trust_clock_;
    options.retention = retention_;
    options.maintenance_ms = 3'600'000;  // only when asked
    EngineStore::Dependencies dependencies{.store = names_,
                                           .layout = CyclicLayout::make(cyclic).value(),
                                           .clock = clock_,
                                           .files = files_,
                                           .registry = metrics_};
    auto opened = test::run_task(EngineStore::open(std::move(dependencies), options));
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
  }
  void close() {
    EXPECT_TRUE(test::run_task(store_->close()));
    store_.reset();
  }

  void put(TimestampMs time, const std::string& to = "m") {
    std::vector<SeriesName> names = {{.metric = to, .tags = {{.key = "host", .value = "a"}}},
                                     {.metric = to, .tags = {{.key = "host", .value = "b"}}}};
    const auto ids = test::run_task(store_->intern(std::move(names), CreateNames())).value();
    PointBatch batch;
    for (const auto& id : ids) batch.add(id.value(), time, integer_bits(time), 0);
    const auto accepted = test::run_task(store_->append(std::move(batch)));
    ASSERT_TRUE(accepted) << accepted.error().message;
    ASSERT_TRUE(accepted->refused.empty());
  }

  std::set<TimestampMs> times(const std::string& of = "m") {
    SeriesQuery query;
    query.metric = of;
    const auto selection = test::run_task(store_->select(std::move(query), {})).value();
    std::set<TimestampMs> found;
    for (std::uint32_t shard = 0; shard < store_->shard_count(); ++shard) {
      const auto scan = store_->scan(selection, {.begin = 0, .end = INT64_MAX}, shard);
      for (;;) {
        const auto blocks = test::run_task(scan->next());
        EXPECT_TRUE(blocks);
        if (!blocks || blocks->empty()) break;
        for (const Block& block : *blocks) found.insert(block.times.begin(), block.times.end());
      }
    }
    return found;
  }

  double metric(const std::string& name) const { return test::metric_value(metrics_, name); }

  bool trust_clock_ = false;
  std::vector<RetentionRule> retention_;
  FakeClock clock_{kFullHour};
  prometheus::Registry metrics_;
  const std::shared_ptr<test::FaultyFiles> files_ = std::make_shared<test::FaultyFiles>(1);
  MemoryStore names_{clock_};
  std::unique_ptr<EngineStore> store_;
};

TEST_F(ExpiryTest, LapsReuseTheirSlotsAndOldPointsNeverAnswer) {
  std::set<TimestampMs> sent;
  double bytes_of_second_lap = 0;
  for (std::uint32_t hour = 0; hour < 4 * kRingSlots; ++hour) {
    for (TimestampMs minute = 0; minute < 60; minute += 10) {
      const TimestampMs now = clock_.now_ms();
      put(now);
      sent.insert(now);
      clock_.advance(10 * 60'000);
    }
    ASSERT_TRUE(test::run_task(store_->seal()));
    const TimestampMs oldest = clock_.now_ms() - kTtl;
    sent.erase(sent.begin(), sent.lower_bound(oldest));
    ASSERT_EQ(times(), sent) << "hour " << hour;
    const double bytes = metric("halite_engine_chunk_bytes");
    if (hour < 2 * kRingSlots) bytes_of_second_lap = std::max(bytes_of_second_lap, bytes);
    EXPECT_LE(bytes, 1.2 * bytes_of_second_lap) << "hour " << hour;
  }
  EXPECT_GT(metric("halite_engine_expired_slots_total"), 2 * kRingSlots);
}

TEST_F(ExpiryTest, AJumpOfTheClockRemovesNothing) {
  put(kFullHour);
  ASSERT_TRUE(test::run_task(store_->seal()));
  clock_.set(kFullHour + 1000 * kHourMs);
  ASSERT_TRUE(test::run_task(store_->seal()));
  EXPECT_EQ(metric("halite_engine_expired_slots_total"), 0);
  clock_.set(kFullHour + kHourMs);  // it was wrong
  EXPECT_THAT(times(), testing::ElementsAre(kFullHour));
}

// As the server does with its own metrics: what comes after the jump has the wrong clock's time.
TEST_F(ExpiryTest, DataOfTheWrongClockDoesNotConfirmIt) {
  put(kFullHour);
  ASSERT_TRUE(test::run_task(store_->seal()));
  clock_.set(kFullHour + 1004 * kHourMs);
  for (int hour = 0; hour < 3; ++hour) {
    ASSERT_TRUE(test::run_task(store_->seal()));
    put(clock_.now_ms());
    ASSERT_TRUE(test::run_task(store_->seal()));
    clock_.advance(kHourMs);
    close();
    open();
  }
  EXPECT_EQ(metric("halite_engine_expired_slots_total"), 0);
  EXPECT_EQ(metric("halite_engine_expiry_stopped"), 1);
  clock_.set(kFullHour + kHourMs);  // it was wrong
  EXPECT_THAT(times(), testing::ElementsAre(kFullHour));
  ASSERT_TRUE(test::run_task(store_->seal()));
  EXPECT_EQ(metric("halite_engine_expiry_stopped"), 0);
}

// A machine without a battery starts in 1970.
TEST_F(ExpiryTest, AClockSetBackRemovesNothing) {
  put(kFullHour);
  ASSERT_TRUE(test::run_task(store_->seal()));
  for (const TimestampMs wrong : {kFullHour - 10 * kHourMs, TimestampMs{1000}}) {
    close();
    clock_.set(wrong);
    open();
    ASSERT_TRUE(test::run_task(store_->seal()));
    clock_.advance(kHourMs);
    ASSERT_TRUE(test::run_task(store_->seal()));
    EXPECT_EQ(metric("halite_engine_expired_slots_total"), 0);
    clock_.set(kFullHour + 1);
    EXPECT_THAT(times(), testing::ElementsAre(kFullHour));
  }
}

// Forecasts reach past the wrong time, and say nothing of it: they are kept for ever.
TEST_F(ExpiryTest, ForecastsDoNotConfirmAJumpOfTheClock) {
  close();
  retention_ = {{.prefix = "forecast.", .ttl_ms = 0}};
  open();
  put(kFullHour);
  put(kFullHour + 1000 * kHourMs, "forecast.m");
  ASSERT_TRUE(test::run_task(store_->seal()));
  clock_.set(kFullHour + 1000 * kHourMs);
  ASSERT_TRUE(test::run_task(store_->seal()));
  EXPECT_EQ(metric("halite_engine_expired_slots_total"), 0);
  EXPECT_EQ(metric("halite_engine_expiry_stopped"), 1);
  clock_.set(kFullHour + kHourMs);  // it was wrong
  EXPECT_THAT(times(), testing::ElementsAre(kFullHour));
}

// The one metric's TTL limits how far ahead its own points may be.
TEST_F(ExpiryTest, WhereOneMetricIsKeptForEverItsPointsMayBeFarAhead) {
  close();
  retention_ = {{.prefix = "forecast.", .ttl_ms = 0}};
  open();
  const TimestampMs month = kFullHour + 30 * 24 * kHourMs;
  put(month, "forecast.m");
  put(kFullHour);
  std::vector<SeriesName> names = {{.metric = "m", .tags = {{.key = "host", .value = "a"}}}};
  const auto ids = test::run_task(store_->intern(std::move(names), CreateNames())).value();
  PointBatch batch;
  batch.add(ids[0].value(), month, 1, 0);
  const auto accepted = test::run_task(store_->append(std::move(batch)));
  ASSERT_TRUE(accepted);
  ASSERT_EQ(accepted->refused.size(), 1U);
  EXPECT_THAT(accepted->refused[0].error.message,
              testing::HasSubstr("(storage.future_max_ms, for storage.ttl_ms is set)"));
  EXPECT_THAT(times("forecast.m"), testing::ElementsAre(month));
  ASSERT_TRUE(test::run_task(store_->seal()));
  EXPECT_THAT(times("forecast.m"), testing::ElementsAre(month));
  close();
  open();
  EXPECT_THAT(times("forecast.m"), testing::ElementsAre(month));
  EXPECT_THAT(times(), testing::ElementsAre(kFullHour));
}

TEST_F(ExpiryTest, AConfirmedJumpRemoves) {
  put(kFullHour);
  ASSERT_TRUE(test::run_task(store_->seal()));
  clock_.set(kFullHour + (125 * kRingSlots - 4) * kHourMs);  // another slot than that of the point
  close();
  trust_clock_ = true;
  open();
  ASSERT_TRUE(test::run_task(store_->seal()));
  EXPECT_GT(metric("halite_engine_expired_slots_total"), 0);
}

TEST_F(ExpiryTest, WhatAnEarlierLapLeftInASlotIsSealedAway) {
  put(kFullHour);
  ASSERT_TRUE(test::run_task(store_->seal()));
  const double before = metric("halite_engine_chunk_bytes");
  close();
  trust_clock_ = true;
  clock_.set(kFullHour + kRingSlots * kHourMs);  // nobody was there to remove it in time
  open();
  put(clock_.now_ms());
  ASSERT_TRUE(test::run_task(store_->seal()));
  EXPECT_THAT(times(), testing::ElementsAre(clock_.now_ms()));
  EXPECT_LT(metric("halite_engine_chunk_bytes"), 1.5 * before);
}

}  // namespace
}  // namespace halite::storage
