// Series come and go for several laps of a ring: what has no points any more is forgotten, its
// memory and its id serve others, and nobody is ever told another's points.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/run_task.h"
#include "tests/unit/engine/engine_world.h"

namespace halite::storage {
namespace {

using test::run_task;
using test::WorldKey;
using test::WorldPoints;
using test::WorldValue;

constexpr std::int64_t kHour = 3'600'000;
constexpr TimestampMs kStart = 1'700'000'000'000 / kHour * kHour;
constexpr std::int64_t kTtl = 3 * kHour;

class ForgettingTest : public testing::Test {
 protected:
  void SetUp() override {
    world_.layout.salt_buckets = 2;
    world_.layout.span_ms = kHour;
    world_.layout.slots = 8;
    world_.layout.ttl_ms = kTtl;
    world_.layout.future_max_ms = kHour / 2;
    world_.layout.cleaning_ms = kHour;
    world_.options.log.segment_bytes = 16 << 20;
    world_.options.log.segment_bytes_min = 64 << 10;
    world_.options.log.commit_interval_ms = 0;
    world_.options.expiry_interval_ms = 1000;
    world_.options.expire_after_clock_jump = true;
    world_.options.maintenance_ms = kHour;  // only when asked
    world_.options.learn_series_min = 2;
    open();
  }
  void TearDown() override { EXPECT_TRUE(world_.close()); }

  void open() {
    const Result<void> opened = world_.open();
    ASSERT_TRUE(opened) << opened.error().message;
    if (allowed_) world_.points->forget_series(keeps_);
  }
  void reopen() {
    ASSERT_TRUE(world_.close());
    open();
  }

  void put(const std::vector<std::string>& hosts, TimestampMs time) {
    const auto hold = world_.points->hold_series();
    const auto ids = world_.intern(hosts);
    ASSERT_TRUE(ids) << ids.error().message;
    PointBatch batch;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const std::uint64_t bits = next_value_++;
      batch.add((*ids)[i], time, bits, 0);
      sent_[{hosts[i], time}] = {.bits = bits, .is_float = false};
    }
    const auto accepted = run_task(world_.points->append(std::move(batch)));
    ASSERT_TRUE(accepted) << accepted.error().message;
    ASSERT_TRUE(accepted->refused.empty());
    ASSERT_TRUE(run_task(accepted->durable.wait()));
  }
  void put(const std::vector<std::string>& hosts) { put(hosts, world_.clock.now_ms()); }

  void expect_what_was_sent() {
    const TimestampMs oldest = world_.clock.now_ms() - kTtl;
    std::erase_if(sent_, [oldest](const auto& entry) { return entry.first.second < oldest; });
    const auto read = world_.read();
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, sent_);
  }

  void settle() { ASSERT_TRUE(run_task(world_.points->seal())); }

  [[nodiscard]] const SeriesTable& table() const { return world_.points->registry().table(); }

  // As lookups find them.
  std::set<std::string> hosts() {
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(world_.points->select(std::move(query)));
    std::set<std::string> found;
    if (!selection) return found;
    for (const SeriesId id : run_task(world_.points->lookup(*selection, 0)).value()) {
      found.emplace(world_.points->series(id).tags[0].value);
    }
    return found;
  }

  Task<std::vector<bool>> keep_a(std::vector<Bytes> tsuids) {
    std::vector<bool> kept;
    for (const Bytes& tsuid : tsuids) {
      kept.push_back(table().at(*table().find(tsuid)).tags[0].value == "a");
    }
    co_return kept;
  }

  static std::vector<std::string> generation_of(int number, int count = 20) {
    std::vector<std::string> hosts = {"stays"};
    for (int i = 0; i < count; ++i) hosts.push_back(fmt::format("g{}-{}", number, i));
    return hosts;
  }

  test::EngineWorld world_{1, kStart};
  WorldPoints sent_;
  std::uint64_t next_value_ = 1;
  bool allowed_ = true;
  SeriesKeeper keeps_;
};

TEST_F(ForgettingTest, SeriesThatComeAndGoTakeNoMoreRoomInLaterLaps) {
  SeriesId most = 0;
  std::size_t most_bytes = 0;
  SeriesId highest = 0;
  for (int hour = 0; hour < 40; ++hour) {
    put(generation_of(hour));
    settle();
    expect_what_was_sent();
    if (hour < 10) {
      most = std::max(most, table().size());
      most_bytes = std::max(most_bytes, table().bytes());
      for (const SeriesId id : world_.intern(generation_of(hour)).value()) {
        highest = std::max(highest, id);
      }
    } else {
      EXPECT_LE(table().size(), most) << "hour " << hour;
      EXPECT_LE(table().bytes(), most_bytes) << "hour " << hour;
      for (const SeriesId id : world_.intern(generation_of(hour)).value()) {
        EXPECT_LE(id, highest) << "hour " << hour;
      }
    }
    world_.clock.advance(kHour);
  }
  EXPECT_LE(hosts().size(), 6 * 20 + 1);
  EXPECT_TRUE(hosts().contains("stays"));
  EXPECT_FALSE(hosts().contains("g1-1"));
  // Nor do they come back from rows.
  reopen();
  EXPECT_FALSE(hosts().contains("g1-1"));
  EXPECT_TRUE(hosts().contains("stays"));
  expect_what_was_sent();
}

TEST_F(ForgettingTest, AForgottenSeriesBeginsAnew) {
  put({"a", "b"});
  settle();
  for (int hour = 0; hour < 6; ++hour) {
    world_.clock.advance(kHour);
    put({"b"});
    settle();
  }
  EXPECT_THAT(hosts(), testing::ElementsAre("b"));
  put({"a"});
  expect_what_was_sent();
  EXPECT_THAT(hosts(), testing::ElementsAre("a", "b"));
  reopen();
  expect_what_was_sent();
  EXPECT_THAT(hosts(), testing::ElementsAre("a", "b"));
}

TEST_F(ForgettingTest, NothingIsForgottenWhereItIsNotAllowed) {
  allowed_ = false;
  reopen();
  put({"a", "b"});
  settle();
  for (int hour = 0; hour < 6; ++hour) {
    world_.clock.advance(kHour);
    put({"b"});
    settle();
  }
  EXPECT_THAT(hosts(), testing::ElementsAre("a", "b"));
  // What was missed then is seen to later.
  allowed_ = true;
  reopen();
  settle();
  EXPECT_THAT(hosts(), testing::ElementsAre("b"));
}

TEST_F(ForgettingTest, WhatIsKeptStays) {
  keeps_ = [this](std::vector<Bytes> tsuids) { return keep_a(std::move(tsuids)); };
  reopen();
  put({"a", "b", "c"});
  settle();
  for (int hour = 0; hour < 6; ++hour) {
    world_.clock.advance(kHour);
    put({"b"});
    settle();
  }
  EXPECT_THAT(hosts(), testing::ElementsAre("a", "b"));
}

TEST_F(ForgettingTest, DeletedSeriesGoOnceTheirPointsAreGoneForGood) {
  put({"a", "b"});
  SeriesQuery query;
  query.metric = "m";
  query.filters.push_back({FilterType::kLiteralOr, "host", "a"});
  {
    const auto selection = run_task(world_.points->select(std::move(query))).value();
    ASSERT_EQ(run_task(world_.points->delete_range(selection, {.begin = 0, .end = INT64_MAX})), 1U);
  }
  sent_.erase({"a", kStart});
  EXPECT_THAT(hosts(), testing::ElementsAre("a", "b"));
  settle();
  EXPECT_THAT(hosts(), testing::ElementsAre("b"));
  expect_what_was_sent();
}

TEST_F(ForgettingTest, ADeleteThatACrashInterruptsIsSeenToLater) {
  put({"a", "b"});
  {
    SeriesQuery query;
    query.metric = "m";
    query.filters.push_back({FilterType::kLiteralOr, "host", "a"});
    const auto selection = run_task(world_.points->select(std::move(query))).value();
    ASSERT_EQ(run_task(world_.points->delete_range(selection, {.begin = 0, .end = INT64_MAX})), 1U);
  }
  sent_.erase({"a", kStart});
  world_.crash();
  open();
  settle();
  EXPECT_THAT(hosts(), testing::ElementsAre("b"));
  expect_what_was_sent();
}

// ---- whoever holds an id ------------------------------------------------------------------------

TEST_F(ForgettingTest, AnIdThatIsHeldIsNotAnothers) {
  put({"a"});
  auto hold = world_.points->hold_series();
  const SeriesId a = world_.intern({"a"}).value()[0];
  settle();
  world_.clock.advance(6 * kHour);
  for (int i = 0; i < 3; ++i) {
    put({fmt::format("other{}", i)});
    settle();
  }
  EXPECT_EQ(world_.points->series(a).tags[0].value, "a");
  // Its points are the series', although they come so late.
  PointBatch batch;
  batch.add(a, world_.clock.now_ms(), 77, 0);
  ASSERT_TRUE(run_task(world_.points->append(std::move(batch))));
  sent_[{"a", world_.clock.now_ms()}] = {.bits = 77, .is_float = false};
  expect_what_was_sent();
  hold.reset();
  settle();
  expect_what_was_sent();
  reopen();
  expect_what_was_sent();
}

TEST_F(ForgettingTest, ASelectionKeepsWhatItSelected) {
  put({"a", "b"});
  settle();
  SeriesQuery query;
  query.metric = "m";
  auto selection = run_task(world_.points->select(std::move(query))).value();
  const auto ids = run_task(world_.points->lookup(selection, 0)).value();
  ASSERT_EQ(ids.size(), 2U);
  world_.clock.advance(6 * kHour);
  for (int i = 0; i < 3; ++i) {
    put({fmt::format("other{}", i)});
    settle();
  }
  std::set<std::string_view> names;
  for (const SeriesId id : ids) names.insert(world_.points->series(id).tags[0].value);
  EXPECT_THAT(names, testing::ElementsAre("a", "b"));
  selection.reset();
  settle();
  settle();
  EXPECT_THAT(hosts(), testing::ElementsAre("other0", "other1", "other2"));
}

// Threads intern and put while series expire around them.
TEST_F(ForgettingTest, PointsThatComeMeanwhileAreNotLost) {
  std::atomic<bool> stop = false;
  std::atomic<int> rounds = 0;
  std::vector<std::thread> threads;
  std::mutex mutex;
  WorldPoints sent;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; !stop || round < 50; ++round) {
        const auto hold = world_.points->hold_series();
        const std::string host = fmt::format("t{}-{}", t, round % 40);
        const auto ids = world_.intern({host});
        ASSERT_TRUE(ids);
        const TimestampMs now = world_.clock.now_ms();
        PointBatch batch;
        batch.add((*ids)[0], now, static_cast<std::uint64_t>(round), 0);
        const auto accepted = run_task(world_.points->append(std::move(batch)));
        ASSERT_TRUE(accepted);
        ASSERT_TRUE(run_task(accepted->durable.wait()));
        const std::lock_guard lock(mutex);
        if (accepted->refused.empty()) {
          sent[{host, now}] = {.bits = static_cast<std::uint64_t>(round), .is_float = false};
        }
        ++rounds;
      }
    });
  }
  for (int hour = 0; hour < 30; ++hour) {
    const int before = rounds;
    while (rounds < before + 10) std::this_thread::yield();
    world_.clock.advance(kHour);
    settle();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  sent_ = std::move(sent);
  expect_what_was_sent();
  reopen();
  expect_what_was_sent();
}

}  // namespace
}  // namespace halite::storage
