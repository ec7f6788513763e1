#include "query/engine/export_run.h"

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/engine/engine.h"
#include "query/limits.h"
#include "query/selector/selector.h"
#include "tests/support/query_world.h"
#include "tests/support/run_task.h"
#include "tests/unit/query/engine/asking.h"

namespace halite::query {
namespace {

using test::QueryLayout;
using test::QueryWorld;
using test::run_task;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// Points by series.
using Exported = std::map<std::string, std::vector<TimestampMs>>;

ExportQuestion question(const std::vector<std::string>& selectors,
                        TimeRange range = {.begin = 0, .end = kT + 600'000}) {
  ExportQuestion wanted{.selectors = {}, .range = range};
  for (const std::string& text : selectors) {
    wanted.selectors.push_back(parse_selector(text, {}).value());
  }
  return wanted;
}

Result<Exported> run(QueryWorld& world, ExportQuestion wanted, std::stop_token stop = {}) {
  static_cast<void>(world.ask_uri(asking("sum:m")));  // what was put is visible
  Exported all;
  const auto exporting = world.engine().export_points(std::move(wanted), std::move(stop));
  while (true) {
    TRY(const bool more, run_task(exporting->next([&](const storage::Series& series,
                                                      const storage::Block& block) -> Result<void> {
          std::string name(series.metric.text());
          for (const storage::SeriesTag& tag : series.tags) {
            name.append(" ").append(tag.key).append("=").append(tag.value);
          }
          std::vector<TimestampMs>& times = all[name];
          times.insert(times.end(), block.times.begin(), block.times.end());
          return {};
        })));
    if (!more) return all;
  }
}

class ExportRunTest : public testing::TestWithParam<QueryLayout> {};

TEST_P(ExportRunTest, ReadsTheSeriesOfAnySelectorOnce) {
  QueryWorld world(GetParam());
  fill_hosts(world, 3, 2);
  put(world, "n host=1 dc=a", kT, 1);
  put(world, "o host=1", kT, 1);
  const std::vector<TimestampMs> both = {kT, kT + 60'000};
  const auto all = run(world, question({R"({__name__=~"m|n",host="1"})", R"(m{host!="0"})"}));
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(*all, ElementsAre(Pair("m host=1", both), Pair("m host=2", both),
                                Pair("n host=1 dc=a", ElementsAre(kT))));
  const auto without = run(world, question({R"({host="1",dc=""})"}));
  ASSERT_TRUE(without);
  EXPECT_THAT(*without, ElementsAre(Pair("m host=1", both), Pair("o host=1", ElementsAre(kT))));
}

INSTANTIATE_TEST_SUITE_P(Layouts, ExportRunTest,
                         testing::Values(QueryLayout::kOpentsdb, QueryLayout::kOpentsdbSalted,
                                         QueryLayout::kCyclic));

TEST(ExportRun, ReadsTheRangeAlone) {
  QueryWorld world(QueryLayout::kCyclic);
  fill_hosts(world, 1, 5);
  const auto some = run(world, question({"m"}, {.begin = kT + 60'000, .end = kT + 120'001}));
  ASSERT_TRUE(some);
  EXPECT_THAT(*some, ElementsAre(Pair("m host=0", ElementsAre(kT + 60'000, kT + 120'000))));
  EXPECT_TRUE(run(world, question({"m"}, {.begin = kT, .end = kT})).value().empty());
  EXPECT_TRUE(run(world, question({"nothing"})).value().empty());
  EXPECT_TRUE(run(world, question({R"(m{nokey="a"})"})).value().empty());
}

TEST(ExportRun, HasTheLimitsOfQueries) {
  const auto refused = [](const QueryLimits& limits) -> std::string {
    QueryWorld world(QueryLayout::kCyclic, limits);
    fill_hosts(world, 3, 5);
    const auto all = run(world, question({R"({__name__!=""})"}));
    return all ? "" : all.error().message;
  };
  EXPECT_EQ(refused({.series_max = 3}), "");
  EXPECT_THAT(refused({.series_max = 2}), HasSubstr("query.series_max"));
  EXPECT_EQ(refused({.points_max = 15}), "");
  EXPECT_THAT(refused({.points_max = 14}), HasSubstr("query.points_max"));
  EXPECT_THAT(refused({.bytes_max = 50}), HasSubstr("query.bytes_max"));
  EXPECT_EQ(refused({.output_points_max = 1}), "") << "the answer is never in memory";
}

TEST(ExportRun, StopsWhenItIsCancelledOrTooLong) {
  QueryWorld world(QueryLayout::kCyclic, {.timeout_ms = 1000});
  fill_hosts(world, 3, 5);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(run(world, question({"m"}), stop.get_token()).error().code, Errc::kCancelled);
  const auto slow = world.engine().export_points(question({"m"}), {});
  const auto nothing = [](const storage::Series&, const storage::Block&) { return Result<void>(); };
  ASSERT_TRUE(run_task(slow->next(nothing)).value());
  world.clock().advance(1001);
  EXPECT_EQ(run_task(slow->next(nothing)).error().code, Errc::kTimeout);
}

TEST(ExportRun, ReleasesTheMemoryOfAMetric) {
  QueryWorld world(QueryLayout::kCyclic);
  fill_hosts(world, 3, 5);
  static_cast<void>(world.ask_uri(asking("sum:m")));
  const auto exporting = world.engine().export_points(question({"m"}), {});
  const auto used = [&] { return world.engine().memory_users().front().used(); };
  const auto nothing = [](const storage::Series&, const storage::Block&) { return Result<void>(); };
  ASSERT_TRUE(run_task(exporting->next(nothing)).value());
  const std::uint64_t during = used();
  while (run_task(exporting->next(nothing)).value()) {
  }
  EXPECT_LT(used(), during);
  EXPECT_EQ(exporting->cost().points_read, 15);
  EXPECT_EQ(exporting->cost().points_out, 15);
  EXPECT_EQ(exporting->cost().series, 3);
}

TEST(ExportRun, WhatIsKeptCountsInTheLimitsOfAQueryAndOfAnswers) {
  QueryWorld world(QueryLayout::kCyclic, {.bytes_max = 1'000'000, .answers_bytes_max = 100'000});
  fill_hosts(world, 3, 5);
  static_cast<void>(world.ask_uri(asking("sum:m")));
  const auto keep = [&](std::int64_t bytes_of_series) {
    const auto exporting = world.engine().export_points(question({"m"}), {});
    return run_task(exporting->read_all(
        [run = exporting.get(), bytes_of_series](const storage::Series&, const storage::Block&) {
          return run->keep_bytes(bytes_of_series);
        }));
  };
  const auto used = [&](std::size_t i) { return world.engine().memory_users()[i].used(); };
  EXPECT_THAT(keep(400'000).error().message, HasSubstr("query.bytes_max"));
  const auto first = keep(30'000);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(used(0), 0U);
  EXPECT_EQ(used(1), 90'000U);
  EXPECT_THAT(keep(30'000).error().message, HasSubstr("query.answers_bytes_max"));
}

}  // namespace
}  // namespace halite::query
