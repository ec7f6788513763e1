// Series without points leave memory, and every query and point finds them as if they had stayed.
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/catalog/names/name_remover.h"
#include "tests/support/run_task.h"
#include "tests/support/sanitized.h"
#include "tests/unit/storage/tsdb/forgetting_fixture.h"

namespace halite::storage {
namespace {

using test::run_task;

constexpr int kLaps = test::kSanitized ? 4 : 10;  // three times that many stay within the TTL

class UnloadingTest : public ForgettingTest {
 protected:
  static constexpr std::int64_t kMinute = 60'000;
  UnloadingTest() {
    world_.options.series_idle_ms = 10 * kMinute;
    world_.options.load_all_max = 0;
  }

  // Runs the maintenance for a time in which only `hosts` get points.
  void pass(std::int64_t minutes, const std::vector<std::string>& hosts = {"stays"}) {
    for (std::int64_t passed = 0; passed < minutes; passed += 5) {
      world_.clock.advance(5 * kMinute);
      put(hosts);
      settle();
    }
  }
  [[nodiscard]] double names() {
    return static_cast<double>(world_.points->uids().name_remover()->known());
  }
  std::shared_ptr<const Selection> select(TimestampMs since) {
    SeriesQuery query;
    query.metric = "m";
    query.since = since;
    return run_task(world_.points->select(std::move(query), {})).value();
  }
};

TEST_F(UnloadingTest, SeriesWithoutPointsLeaveMemoryAndComeBack) {
  put(generation_of(0));
  pass(30);
  EXPECT_EQ(table().size(), 1U);
  EXPECT_EQ(names(), 3);  // metric, key, value
  expect_what_was_sent();
  EXPECT_EQ(table().size(), 21U);
  EXPECT_EQ(hosts().size(), 21U);
  pass(30);
  EXPECT_EQ(table().size(), 1U);
  EXPECT_EQ(hosts().size(), 21U);
  pass(30);
  put(generation_of(0));
  EXPECT_EQ(table().size(), 21U);
  expect_what_was_sent();
  reopen();
  expect_what_was_sent();
}

TEST_F(UnloadingTest, NamesNeedNoSeriesInMemory) {
  world_.options.series_idle_ms = 20 * kMinute;
  reopen();
  const auto values = [this](TimestampMs since) {
    std::set<std::string> found;
    EXPECT_TRUE(run_task(world_.points->series_names(
        {NameKind::kTagValue, "host", since}, {}, [&found](std::string_view name) -> Result<void> {
          found.emplace(name);
          return {};
        })));
    return found.size();
  };
  put(generation_of(0));
  pass(140);
  ASSERT_EQ(table().size(), 1U);
  EXPECT_EQ(values(0), 21U);
  EXPECT_EQ(values(world_.clock.now_ms() - 5 * kMinute), 1U) << "only what is in memory";
  EXPECT_EQ(table().size(), 1U);
}

TEST_F(UnloadingTest, SeriesWithPointsStay) {
  put(generation_of(0));
  pass(40, generation_of(0));
  EXPECT_EQ(table().size(), 21U);
}

// An unload has a price, which an eighth of all series is worth.
TEST_F(UnloadingTest, AFewIdleSeriesStay) {
  put({"a", "b"});
  pass(40, generation_of(0));
  EXPECT_EQ(table().size(), 23U);
}

TEST_F(UnloadingTest, NothingIsUnloadedIfItIsTurnedOff) {
  world_.options.series_idle_ms = 0;
  reopen();
  put(generation_of(0));
  pass(40);
  EXPECT_EQ(table().size(), 21U);
}

TEST_F(UnloadingTest, AQueryLoadsTheSeriesOfItsTime) {
  put(generation_of(0));
  pass(40);
  put(generation_of(1));
  pass(40);
  ASSERT_EQ(table().size(), 1U);
  const TimestampMs now = world_.clock.now_ms();
  select(now - 5 * kMinute);
  EXPECT_EQ(table().size(), 1U);
  select(now - 65 * kMinute);  // slots of an hour: those of the first half may be there, too
  EXPECT_GE(table().size(), 21U);
  EXPECT_EQ(*world_.read(now - 65 * kMinute), [&] {
    test::WorldPoints recent;
    for (const auto& [key, value] : sent_) {
      if (key.second >= now - 65 * kMinute) recent.emplace(key, value);
    }
    return recent;
  }());
  select(0);
  EXPECT_EQ(table().size(), 41U);
}

// The slot of a point ahead of the clock is still to come.
TEST_F(UnloadingTest, APointAheadOfTheClockIsFoundInItsTime) {
  put(generation_of(0), world_.clock.now_ms() + 29 * kMinute);
  pass(25);
  ASSERT_EQ(table().size(), 1U);
  const auto read = world_.read(world_.clock.now_ms());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), 22U);  // and the newest of the one that stays
}

TEST_F(UnloadingTest, ASelectionKeepsItsSeries) {
  put(generation_of(0));
  pass(20);
  const auto selection = select(0);
  pass(40);
  EXPECT_EQ(table().size(), 21U);
  std::set<std::string> found;
  for (std::uint32_t shard = 0; shard < world_.points->shard_count(); ++shard) {
    const auto scan = world_.points->scan(selection, {.begin = 0, .end = INT64_MAX}, shard);
    while (true) {
      const auto blocks = run_task(scan->next());
      ASSERT_TRUE(blocks);
      if (blocks->empty()) break;
      for (const Block& block : *blocks) {
        found.emplace(world_.points->series(block.series).tags[0].value);
      }
    }
  }
  EXPECT_EQ(found.size(), 21U);
}

TEST_F(UnloadingTest, NamesAreFoundWhileTheyLeave) {
  put(generation_of(0));
  std::atomic<bool> done = false;
  std::thread asks([&] {
    while (!done) {
      for (const std::string& host : generation_of(0)) {
        const auto pin = world_.points->uids().pin();
        EXPECT_TRUE(run_task(world_.points->uids().find(NameKind::kTagValue, host))) << host;
      }
    }
  });
  for (int round = 0; round < kLaps; ++round) pass(10);
  done = true;
  asks.join();
}

TEST_F(UnloadingTest, EveryQueryIsCompleteWhileSeriesComeAndGo) {
  put(generation_of(0));
  put(generation_of(1));
  settle();
  const test::WorldPoints old = sent_;
  // A query in every third lap, at the same time as its maintenance.
  std::atomic<int> queries = 0;
  std::thread asks([&] {
    for (int asked = 0; asked < kLaps; ++asked) {
      queries.wait(asked);
      const auto read = world_.read();
      ASSERT_TRUE(read) << read.error().message;
      for (const auto& [key, value] : old) {
        ASSERT_TRUE(read->contains(key)) << key.first << " is missing";
      }
    }
  });
  std::size_t least = SIZE_MAX;
  for (int lap = 0; lap < 3 * kLaps; ++lap) {
    if (lap % 3 == 0) {
      ++queries;
      queries.notify_one();
    }
    world_.clock.advance(5 * kMinute);
    put({"stays", "g0-1"});
    settle();
    least = std::min<std::size_t>(least, table().size());
  }
  asks.join();
  EXPECT_LT(least, 41U);
  expect_what_was_sent();
}

}  // namespace
}  // namespace halite::storage
