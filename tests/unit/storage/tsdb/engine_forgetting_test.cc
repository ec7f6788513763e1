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

#include "storage/catalog/series_page.h"
#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/forgetting_fixture.h"

namespace halite::storage {
namespace {

using test::run_task;
using test::WorldPoints;

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
        if (!kIdsAreChecked) EXPECT_LE(id, highest) << "hour " << hour;
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
  rules_.keeps = [this](std::vector<Bytes> tsuids) { return keep_a(std::move(tsuids)); };
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
  delete_points_of("a");
  EXPECT_THAT(hosts(), testing::ElementsAre("a", "b"));
  settle();
  EXPECT_THAT(hosts(), testing::ElementsAre("b"));
  expect_what_was_sent();
}

TEST_F(ForgettingTest, ADeleteThatACrashInterruptsIsSeenToLater) {
  put({"a", "b"});
  delete_points_of("a");
  world_.crash();
  open();
  settle();
  EXPECT_THAT(hosts(), testing::ElementsAre("b"));
  expect_what_was_sent();
}

// ---- whoever holds an id ------------------------------------------------------------------------

TEST_F(ForgettingTest, AnIdThatIsHeldIsNotAnothers) {
  put({"a"});
  auto pin = world_.points->pin_series();
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
  pin.reset();
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
  auto selection = run_task(world_.points->select(std::move(query), {})).value();
  PinnedSeries ids = run_task(world_.points->lookup(selection, 0)).value();
  ASSERT_EQ(ids.size(), 2U);
  world_.clock.advance(6 * kHour);
  for (int i = 0; i < 3; ++i) {
    put({fmt::format("other{}", i)});
    settle();
  }
  const auto names = [this, &ids] {
    std::set<std::string_view> found;
    for (const SeriesId id : ids) found.insert(world_.points->series(id).tags[0].value);
    return found;
  };
  EXPECT_THAT(names(), testing::ElementsAre("a", "b"));
  selection.reset();  // the answer keeps them too
  settle();
  settle();
  EXPECT_THAT(names(), testing::ElementsAre("a", "b"));
  ids = {};
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
        const auto pin = world_.points->pin_series();
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
