#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "query/answer.h"
#include "query/engine/engine.h"
#include "query/limits.h"
#include "query/parse/parse_context.h"
#include "query/parse/question_parse.h"
#include "tests/support/fake_point_store.h"
#include "tests/support/metric_value.h"
#include "tests/support/query_world.h"
#include "tests/support/run_task.h"
#include "tests/support/sample_point_store.h"
#include "tests/unit/query/engine/asking.h"
#include "tests/unit/query/times.h"

namespace halite::query {
namespace {

using test::QueryLayout;
using test::QueryWorld;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

TEST(QueryEngineLimits, CostIsCounted) {
  QueryWorld world(QueryLayout::kCyclic);
  fill_hosts(world, 3, 5);
  const auto answer = world.ask_uri(asking("sum:m"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->cost.series, 3);
  EXPECT_EQ(answer->cost.points_read, 15);
  EXPECT_EQ(answer->cost.points_out, 5);
  EXPECT_GE(answer->cost.blocks_read, 3);
}

TEST(QueryEngineLimits, EveryLimitIsNamedAtItsMaximumPlusOne) {
  const auto ask = [](const QueryLimits& limits) {
    QueryWorld world(QueryLayout::kCyclic, limits);
    fill_hosts(world, 3, 5);
    return refusal(world.ask_uri(asking("none:m")));
  };
  EXPECT_EQ(ask({.series_max = 3}).message, "");
  EXPECT_THAT(ask({.series_max = 2}).message,
              AllOf(HasSubstr("more than 2"), HasSubstr("query.series_max")));
  EXPECT_EQ(ask({.series_max = 2}).code, Errc::kTooLarge);
  EXPECT_EQ(ask({.points_max = 15}).message, "");
  EXPECT_THAT(ask({.points_max = 14}).message,
              AllOf(HasSubstr("more than 14"), HasSubstr("query.points_max")));
  EXPECT_EQ(ask({.output_points_max = 15}).message, "");
  EXPECT_THAT(ask({.output_points_max = 14}).message,
              AllOf(HasSubstr("more than 14"), HasSubstr("query.output_points_max")));
  EXPECT_THAT(ask({.bytes_max = 1000}).message,
              AllOf(HasSubstr("more than 1000"), HasSubstr("query.bytes_max")));
}

// An engine whose questions all wait, until they may go on and fail.
struct WaitingQuestions {
  explicit WaitingQuestions(QueryLimits limits)
      : engine(store, clock, limits, false,
               {.large = pool.get_executor(), .small = pool.get_executor()}, registry) {
    store.select_waits_for = Completion();
  }
  ~WaitingQuestions() { pool.join(); }

  auto ask() {
    ParseContext context;
    context.now = kT + 1'000'000;
    const Question question = parse_question_uri(asking("sum:m"), context).value();
    return boost::asio::co_spawn(pool, engine.run(question, {}), boost::asio::use_future);
  }
  void wait_for_selects(std::size_t count) const {
    while (store.selects() < count) std::this_thread::yield();
  }

  test::FakePointStore store;
  FakeClock clock{kT};
  prometheus::Registry registry;
  boost::asio::thread_pool pool{2};
  QueryEngine engine;
};

TEST(QueryEngineLimits, QueriesWaitForTheirTurn) {
  WaitingQuestions world({.running_max = 2, .queue_ms = 60'000});
  auto first = world.ask();
  auto second = world.ask();
  world.wait_for_selects(2);
  auto third = world.ask();
  EXPECT_EQ(third.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  EXPECT_EQ(world.store.selects(), 2);
  world.store.select_waits_for.finish({});
  EXPECT_EQ(first.get().error().code, Errc::kUnsupported);
  EXPECT_EQ(second.get().error().code, Errc::kUnsupported);
  EXPECT_EQ(third.get().error().code, Errc::kUnsupported);
  EXPECT_EQ(world.store.selects(), 3);
}

TEST(QueryEngineLimits, WhoseTurnDoesNotComeIsRefused) {
  WaitingQuestions world({.running_max = 2, .queue_ms = 20});
  auto first = world.ask();
  auto second = world.ask();
  world.wait_for_selects(2);
  const auto refused = world.ask().get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kOverloaded);
  EXPECT_EQ(refused.error().message,
            "2 queries are running (query.running_max), and this query waited 20 ms in the queue "
            "(query.queue_ms); try again later, or raise those settings");
  world.store.select_waits_for.finish({});
  EXPECT_EQ(first.get().error().code, Errc::kUnsupported);
  EXPECT_EQ(second.get().error().code, Errc::kUnsupported);
  EXPECT_EQ(world.ask().get().error().code, Errc::kUnsupported);  // there is room again
}

TEST(QueryEngineLimits, TheWaitIsPartOfTheTimeThatAQueryMayTake) {
  WaitingQuestions world({.timeout_ms = 1000, .running_max = 1, .queue_ms = 60'000});
  auto first = world.ask();
  world.wait_for_selects(1);
  auto second = world.ask();
  // Once it waits; before, its time has not begun.
  while (test::metric_value(world.registry, "halite_query_waiting") < 1) std::this_thread::yield();
  world.clock.advance(1001);
  world.store.select_waits_for.finish({});
  EXPECT_EQ(first.get().error().code, Errc::kUnsupported);
  EXPECT_EQ(second.get().error().code, Errc::kTimeout);
  EXPECT_EQ(world.store.selects(), 1);
}

TEST(QueryEngineLimits, AnswersThatNobodyHasTakenYetAreLimited) {
  QueryWorld world(QueryLayout::kCyclic, {.answers_bytes_max = 100'000});
  fill_hosts(world, 2, 3000);
  const auto question = parse_question_uri(asking("none:m", kT, kT + 180'000'000), world.context());
  ASSERT_TRUE(question);
  ASSERT_TRUE(world.ask(*question));  // writes what was put
  auto first = test::run_task(world.engine().run(*question, {}));
  ASSERT_TRUE(first) << "one alone may be larger";
  const auto refused = test::run_task(world.engine().run(*question, {}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kOverloaded);
  EXPECT_THAT(refused.error().message, HasSubstr("query.answers_bytes_max"));
  first->reset();
  EXPECT_TRUE(test::run_task(world.engine().run(*question, {})));
}

// The same question, answered in one window and in many, reads the same points.
TEST(QueryEngineLimits, PointsOfAWindowThatIsGivenUpCountOnce) {
  for (const QueryLayout layout : {QueryLayout::kOpentsdb, QueryLayout::kCyclic}) {
    const auto ask = [layout](std::uint64_t points_max) {
      QueryWorld world(layout, {.points_max = points_max, .window_bytes = 60'000});
      fill_hosts(world, 20, 600);
      // One that has ended makes the others look ahead.
      for (int p = 0; p < 5; ++p) put(world, "m host=short", kT + p * 60'000, p);
      return world.ask_uri(asking("sum:m", kT, kT + 36'000'000));
    };
    const auto answer = ask(12'005);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->cost.points_read, 12'005U);
    EXPECT_THAT(refusal(ask(12'004)).message, HasSubstr("more than 12004 points"));
  }
}

// A shorter window has the same series, so it would not need less for them.
TEST(QueryEngineLimits, ManySeriesOfFewPointsAreOneWindow) {
  const auto blocks_read = [](QueryLimits limits) {
    QueryWorld world(QueryLayout::kCyclic, limits);
    fill_hosts(world, 100, 2);
    const auto answer = world.ask_uri(asking("sum:m", kT, kT + 36'000'000));
    return answer ? answer->cost.blocks_read : 0;
  };
  const std::uint64_t at_once = blocks_read({});
  EXPECT_GT(at_once, 0U);
  EXPECT_EQ(blocks_read({.window_bytes = 10'000}), at_once);
  EXPECT_GT(blocks_read({.bytes_max = 200'000, .window_bytes = 10'000}), at_once);
}

// Shards that have little to read are read one after the other: the first gives up the window, and
// the second has not begun it.
TEST(QueryEngineLimits, ShardsThatAWindowGivenUpNeverReadKeepTheirPoints) {
  constexpr TimestampMs kMinute = 60'000;
  constexpr TimestampMs kHour = 60 * kMinute;
  test::SampleSeries burst{.name = {"m", {{"host", "burst"}}}, .points = {}};
  for (int p = 0; p < 3600; ++p) {
    burst.points.push_back({.time = kT + 10 * kHour + p * 1000, .value = integer_bits(1)});
  }
  test::SampleSeries steady{.name = {"m", {{"host", "steady"}}}, .points = {}};
  std::vector<TimestampMs> times;
  for (int p = 0; p < 100; ++p) {
    times.push_back(kT + p * 10 * kMinute);
    steady.points.push_back({.time = times.back(), .value = integer_bits(p)});
  }
  test::SamplePointStore store({burst, steady}, 2, 1);
  const FakeClock clock(kT);
  prometheus::Registry registry;
  boost::asio::thread_pool pool(2);
  // 4 of the 64 hours are read; then 8 are too many, for the burst.
  QueryEngine engine(store, clock, {.window_bytes = 20'000}, false,
                     {.large = pool.get_executor(), .small = pool.get_executor()}, registry);
  ParseContext context;
  context.now = kT + 100 * kHour;
  const auto question = parse_question_uri(asking("sum:m{host=*}", kT, kT + 63 * kHour), context);
  ASSERT_TRUE(question);
  const auto answer = test::run_task(engine.run(*question, {}));
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_THAT((*answer)->series, SizeIs(2));
  EXPECT_THAT((*answer)->series[0].times, SizeIs(burst.points.size()));
  EXPECT_EQ((*answer)->series[1].times, times);
  EXPECT_EQ((*answer)->cost.points_read, burst.points.size() + steady.points.size());
}

TEST(QueryEngineLimits, BytesAtTheirMaximumAndOneLess) {
  const auto ask = [](std::uint64_t bytes_max) {
    QueryWorld world(QueryLayout::kOpentsdb, {.bytes_max = bytes_max});
    fill_hosts(world, 3, 50);
    return refusal(world.ask_uri(asking("none:m", kT, kT + 3'600'000)));
  };
  std::uint64_t enough = 1 << 20;
  std::uint64_t too_little = 0;
  ASSERT_EQ(ask(enough).message, "");
  while (enough - too_little > 1) {
    const std::uint64_t middle = too_little + (enough - too_little) / 2;
    (ask(middle).message.empty() ? enough : too_little) = middle;
  }
  EXPECT_GT(enough, 150 * 17);  // at least the points themselves
  EXPECT_LT(enough, 20'000);
  EXPECT_EQ(ask(enough).message, "");
  EXPECT_EQ(ask(enough - 1).code, Errc::kTooLarge);
  EXPECT_EQ(ask(enough - 1).message,
            fmt::format("The query needs more than {} bytes of memory (query.bytes_max); narrow it "
                        "by tags or time, downsample it, or raise that setting",
                        enough - 1));
}

TEST(QueryEngineLimits, SubQueriesAreLimited) {
  QueryWorld world(QueryLayout::kOpentsdb, {.sub_queries_max = 2});
  fill_hosts(world, 1, 1);
  Parameters two = asking("sum:m");
  two.emplace_back("m", "max:m");
  EXPECT_TRUE(world.ask_uri(two));
  two.emplace_back("m", "min:m");
  EXPECT_THAT(refusal(world.ask_uri(two)).message,
              AllOf(HasSubstr("more than 2 sub-queries"), HasSubstr("query.sub_queries_max")));
}

TEST(QueryEngineLimits, FillingIsLimitedBeforeItBegins) {
  QueryWorld world(QueryLayout::kOpentsdb);
  fill_hosts(world, 1, 1);
  EXPECT_THAT(refusal(world.ask_uri(asking("sum:1ms-sum-zero:m", kT, kT + 86'400'000))).message,
              HasSubstr("query.output_points_max"));
}

TEST(QueryEngineLimits, WhatFillingTakesCountsBeforeItIsTaken) {
  QueryWorld world(QueryLayout::kOpentsdb, {.bytes_max = 1'000'000});
  fill_hosts(world, 1, 1);
  // 86 400 buckets of 17 bytes.
  EXPECT_THAT(refusal(world.ask_uri(asking("sum:1s-sum-zero:m", kT, kT + 86'000'000))).message,
              HasSubstr("query.bytes_max"));
  EXPECT_TRUE(world.ask_uri(asking("sum:10s-sum-zero:m", kT, kT + 86'000'000)));
}

// A point a series becomes 3600: what one window fills must not pass the limit unseen.
TEST(QueryEngineLimits, FillingCountsAsMemorySeriesBySeries) {
  QueryWorld world(QueryLayout::kCyclic, {.bytes_max = 4 << 20});
  fill_hosts(world, 1000, 1);
  EXPECT_THAT(refusal(world.ask_uri(asking("sum:1s-sum-zero:m", kT, kT + 3'600'000))).message,
              HasSubstr("query.bytes_max"));
}

}  // namespace
}  // namespace halite::query
