#include "query/answer/explain.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/parse/question_parse.h"
#include "tests/support/query_world.h"
#include "tests/support/run_task.h"
#include "tests/unit/query/times.h"

namespace halite::query {
namespace {

using test::QueryLayout;
using test::QueryWorld;
using test::run_task;
using testing::SizeIs;

// Series m host=0 ... of a point a minute, and the same number of another metric.
void fill_two_metrics(QueryWorld& world, int series, int points) {
  for (int s = 0; s < series; ++s) {
    for (const char* metric : {"m", "other"}) {
      for (int p = 0; p < points; ++p) {
        world.put(fmt::format("{} host={} rack={}", metric, s, s % 2), kT + p * 60'000,
                  integer_bits(p), false);
      }
    }
  }
}

Question question(const QueryWorld& world, const std::string& m) {
  const Parameters parameters = {{"start", "1356998400"}, {"end", "1357002000"}, {"m", m}};
  return parse_question_uri(parameters, world.context()).value();
}

Explanation explain(QueryWorld& world, const std::string& m) {
  const Question asked = question(world, m);
  EXPECT_TRUE(world.ask(question(world, "sum:other")));  // writes what was put
  const auto explanation = run_task(world.engine().explain(asked, {}));
  EXPECT_TRUE(explanation) << explanation.error().message;
  return explanation ? **explanation : Explanation{};
}

bool exceeded(const Explanation& explanation, std::string_view name) {
  const auto limit = std::ranges::find(explanation.limits, name, &ExplainedLimit::name);
  EXPECT_NE(limit, explanation.limits.end());
  return limit->exceeded();
}

TEST(Explain, CountsWhatWouldBeRead) {
  for (const QueryLayout layout :
       {QueryLayout::kOpentsdb, QueryLayout::kOpentsdbSalted, QueryLayout::kCyclic}) {
    QueryWorld world(layout);
    fill_two_metrics(world, 4, 30);
    const Explanation all = explain(world, "sum:m");
    ASSERT_THAT(all.queries, SizeIs(1));
    EXPECT_EQ(all.queries[0].series, 4U);
    EXPECT_EQ(all.queries[0].shards, world.store().shard_count());
    EXPECT_EQ(all.queries[0].points, 120U);
    EXPECT_GE(all.queries[0].rows, 4U);
    EXPECT_EQ(all.queries[0].groups, 1U);
    EXPECT_EQ(all.queries[0].output_points, 30U);
    EXPECT_GT(all.queries[0].stored_bytes, 120U * 2);
    EXPECT_EQ(explain(world, "sum:m{host=1}").queries[0].points, 30U);
    EXPECT_EQ(explain(world, "sum:m{rack=*}").queries[0].groups, 2U);
    EXPECT_EQ(explain(world, "none:m").queries[0].output_points, 120U);
    EXPECT_EQ(explain(world, "sum:10m-avg:m").queries[0].output_points, 12U);  // two whole hours
    EXPECT_EQ(explain(world, "sum:0all-sum:m").queries[0].output_points, 1U);
  }
}

TEST(Explain, TsuidsCountTheirOwnRows) {
  QueryWorld world(QueryLayout::kOpentsdb);
  fill_two_metrics(world, 4, 30);
  Question each = question(world, "none:m");
  each.show_tsuids = true;
  const auto answer = world.ask(each);
  ASSERT_TRUE(answer);
  Question two = question(world, "sum:m");
  two.queries[0].metric.clear();
  two.queries[0].tsuids = {answer->series[0].tsuids[0], answer->series[2].tsuids[0]};
  const auto explanation = run_task(world.engine().explain(two, {}));
  ASSERT_TRUE(explanation) << explanation.error().message;
  EXPECT_EQ((*explanation)->queries[0].series, 2U);
  EXPECT_EQ((*explanation)->queries[0].points, 60U);
}

TEST(Explain, TellsLimitsAtTheirMaximumAndOneOver) {
  const auto explained = [](const QueryLimits& limits) {
    QueryWorld world(QueryLayout::kCyclic, limits);
    fill_two_metrics(world, 2, 10);
    const Question asked = question(world, "none:m");
    EXPECT_TRUE(world.ask(question(world, "sum:other{host=0}")));
    return *run_task(world.engine().explain(asked, {})).value();
  };
  EXPECT_FALSE(exceeded(explained({.series_max = 2}), "query.series_max"));
  EXPECT_TRUE(exceeded(explained({.series_max = 1}), "query.series_max"));
  EXPECT_FALSE(exceeded(explained({.points_max = 20}), "query.points_max"));
  EXPECT_TRUE(exceeded(explained({.points_max = 19}), "query.points_max"));
  EXPECT_FALSE(exceeded(explained({.output_points_max = 20}), "query.output_points_max"));
  EXPECT_TRUE(exceeded(explained({.output_points_max = 19}), "query.output_points_max"));
  const std::uint64_t memory = explained({}).total.memory_bytes;
  EXPECT_EQ(memory, 2 * 1024 + 2 * 20 * 17U);
}

TEST(Explain, DeletesNothingAndRefusesWhatAQueryRefuses) {
  QueryWorld world(QueryLayout::kCyclic);
  fill_two_metrics(world, 1, 5);
  Question asked = question(world, "sum:m");
  ASSERT_TRUE(world.ask(asked));
  asked.delete_points = true;
  ASSERT_TRUE(run_task(world.engine().explain(asked, {})));
  EXPECT_THAT(world.ask(question(world, "sum:m"))->series[0].times, SizeIs(5));
  const auto unknown = run_task(world.engine().explain(question(world, "sum:nosuch"), {}));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "No such name for 'metrics': 'nosuch'");
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = run_task(world.engine().explain(question(world, "sum:m"), stop.get_token()));
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Errc::kCancelled);
}

}  // namespace
}  // namespace halite::query
