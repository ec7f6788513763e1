#include "query/query_budget.h"

#include <stop_token>

#include <gtest/gtest.h>

namespace halite::query {
namespace {

TEST(QueryBudget, TimeoutAtItsMaximumAndOneMore) {
  FakeClock clock(1'000'000);
  const QueryBudget budget({.timeout_ms = 500}, clock, {});
  EXPECT_TRUE(budget.check());
  clock.advance(500);
  EXPECT_TRUE(budget.check());
  clock.advance(1);
  const auto late = budget.check();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::kTimeout);
  EXPECT_EQ(late.error().message,
            "The query took longer than 500 ms (query.timeout_ms); narrow it by tags or time, or "
            "raise that setting");
}

TEST(QueryBudget, StopWinsOverTimeout) {
  FakeClock clock(1'000'000);
  std::stop_source stop;
  const QueryBudget budget({.timeout_ms = 500}, clock, stop.get_token());
  clock.advance(10'000);
  stop.request_stop();
  const auto stopped = budget.check();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Errc::kCancelled);
}

TEST(QueryBudget, StagesAddUpAndSoDoesWhatWasRead) {
  FakeClock clock(1000);
  QueryBudget budget({}, clock, {});
  for (int i = 0; i < 2; ++i) {
    const QueryBudget::Timed timed(budget, Stage::kRead);
    clock.advance(5);
    budget.count_read({.chunks_decoded = 3, .chunks_skipped = 1, .totals = 24});
  }
  clock.advance(2);
  const QueryCost cost = budget.cost();
  EXPECT_EQ(cost.stage_ms[static_cast<std::size_t>(Stage::kRead)], 10);
  EXPECT_EQ(cost.stage_ms[static_cast<std::size_t>(Stage::kMerge)], 0);
  EXPECT_EQ(cost.wall_ms, 12);
  EXPECT_EQ(cost.work.chunks_decoded, 6U);
  EXPECT_EQ(cost.work.chunks_skipped, 2U);
  EXPECT_EQ(cost.work.totals, 48U);
}

TEST(QueryBudget, CountsFromManyAddUp) {
  FakeClock clock(0);
  QueryBudget budget({.series_max = 2, .points_max = 10, .bytes_max = 100, .output_points_max = 3},
                     clock, {});
  EXPECT_TRUE(budget.add_series(2));
  EXPECT_FALSE(budget.add_series(1));
  EXPECT_TRUE(budget.add_points(4));
  EXPECT_TRUE(budget.add_points(6));
  EXPECT_FALSE(budget.add_points(1));
  EXPECT_TRUE(budget.add_output_points(3));
  EXPECT_FALSE(budget.add_output_points(1));
  budget.add_blocks(7);
  clock.advance(12);
  EXPECT_EQ(budget.cost().series, 3);
  EXPECT_EQ(budget.cost().points_read, 11);
  EXPECT_EQ(budget.cost().points_out, 4);
  EXPECT_EQ(budget.cost().blocks_read, 7);
  EXPECT_EQ(budget.cost().wall_ms, 12);
}

TEST(QueryBudget, MemoryIsGivenBack) {
  FakeClock clock(0);
  QueryBudget budget({.bytes_max = 100}, clock, {});
  EXPECT_TRUE(budget.add_bytes(100));
  EXPECT_FALSE(budget.add_bytes(1));
  EXPECT_TRUE(budget.add_bytes(-51));
  EXPECT_TRUE(budget.add_bytes(50));
}

TEST(QueryBudget, EveryRefusalIsASentenceThatNamesItsSetting) {
  FakeClock clock(0);
  QueryBudget budget({.series_max = 1, .points_max = 2, .bytes_max = 3, .output_points_max = 4},
                     clock, {});
  const auto message = [](const Result<void>& outcome) {
    return outcome ? "" : outcome.error().message;
  };
  EXPECT_EQ(message(budget.add_series(2)),
            "The query selects more than 1 series (query.series_max); narrow it by tags, or raise "
            "that setting");
  EXPECT_EQ(message(budget.add_points(3)),
            "The query reads more than 2 points (query.points_max); narrow it by tags or time, or "
            "raise that setting");
  EXPECT_EQ(message(budget.add_bytes(4)),
            "The query needs more than 3 bytes of memory (query.bytes_max); narrow it by tags or "
            "time, downsample it, or raise that setting");
  EXPECT_EQ(message(budget.add_output_points(5)),
            "The query returns more than 4 points (query.output_points_max); narrow it by "
            "tags or time, downsample it, or raise that setting");
}

TEST(QueryBudget, SeriesAreCheckedWithoutBeingCounted) {
  FakeClock clock(0);
  QueryBudget budget({.series_max = 5}, clock, {});
  EXPECT_TRUE(budget.check_series(5));
  EXPECT_FALSE(budget.check_series(6));
  EXPECT_EQ(budget.cost().series, 0);
  EXPECT_TRUE(budget.add_series(2));
  EXPECT_TRUE(budget.check_series(3));
  EXPECT_FALSE(budget.check_series(4));
}

TEST(QueryBudget, PointsReadForNothingAreTakenBack) {
  FakeClock clock(0);
  QueryBudget budget({.points_max = 10}, clock, {});
  EXPECT_TRUE(budget.add_points(10));
  budget.uncount_points(10);
  EXPECT_TRUE(budget.add_points(10));
  EXPECT_FALSE(budget.add_points(1));
}

}  // namespace
}  // namespace halite::query
