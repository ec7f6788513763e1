#include "query/engine/engine.h"

#include <cstdint>
#include <limits>
#include <stop_token>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/answer.h"
#include "query/parse/question_parse.h"
#include "query/query_budget.h"
#include "tests/support/query_world.h"
#include "tests/support/run_task.h"
#include "tests/unit/query/engine/asking.h"
#include "tests/unit/query/times.h"

namespace halite::query {
namespace {

using test::QueryLayout;
using test::QueryWorld;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(QueryEngine, UnknownNamesAreRefusedInOpentsdbsWords) {
  QueryWorld world(QueryLayout::kOpentsdb);
  fill_hosts(world, 1, 1);
  const Error metric = refusal(world.ask_uri(asking("sum:nosuch")));
  EXPECT_EQ(metric.code, Errc::kNotFound);
  EXPECT_EQ(metric.message, "No such name for 'metrics': 'nosuch'");
  EXPECT_EQ(metric.details, metric.message);
  EXPECT_EQ(refusal(world.ask_uri(asking("sum:m{nosuch=*}"))).message,
            "No such name for 'tagk': 'nosuch'");
  EXPECT_EQ(refusal(world.ask_uri(asking("sum:m{host=nosuch}"))).message,
            "No such name for 'tagv': 'nosuch'");
}

TEST(QueryEngine, UnknownValuesCanMatchNothingInstead) {
  QueryWorld world(QueryLayout::kOpentsdb, {}, true);
  fill_hosts(world, 1, 1);
  const auto answer = world.ask_uri(asking("sum:m{host=nosuch}"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->series, IsEmpty());
}

TEST(QueryEngine, PointsAsTheyAreStored) {
  QueryWorld world(QueryLayout::kCyclic);
  constexpr std::int64_t kNoDouble = (std::int64_t{1} << 53) + 1;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  put(world, "m host=a", kT, kNoDouble);
  world.put("m host=a", kT + 1'000, double_bits(0.5), true);
  world.put("m host=a", kT + 2'000, double_bits(-kInfinity), true);
  put(world, "m host=b", kT + 1'000, 7);
  world.put("m host=b", kT + 2'000, kStaleMarker, true);
  const auto ask = [&world](std::string_view sub_query) {
    return world.ask_json(fmt::format(R"({{"start":{},"end":{},"queries":[{{"metric":"m",{}}}]}})",
                                      kT, kT + 2'000, sub_query),
                          {{"as_stored", ""}});
  };
  const auto answer = ask(R"("aggregator":"none")");
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_THAT(answer->series, SizeIs(2));
  const AnswerSeries& first = answer->series.front();
  EXPECT_THAT(first.times, ElementsAre(kT, kT + 1'000, kT + 2'000));
  EXPECT_THAT(first.values,
              ElementsAre(integer_bits(kNoDouble), double_bits(0.5), double_bits(-kInfinity)));
  EXPECT_THAT(first.floats, ElementsAre(false, true, true));
  EXPECT_THAT(answer->series.back().values, ElementsAre(integer_bits(7), kStaleMarker));
  // Other queries compute with the points.
  for (const char* const computed :
       {R"("aggregator":"sum")", R"("aggregator":"none","downsample":"1s-sum")",
        R"("aggregator":"none","rate":true)"}) {
    EXPECT_THAT(refusal(ask(computed)).message, HasSubstr("Got Infinity: -Infinity")) << computed;
  }
}

TEST(QueryEngine, WorkAfterTheAnswerIsPartOfTheQuery) {
  QueryWorld world(QueryLayout::kCyclic, {.running_max = 1});
  fill_hosts(world, 2, 5);
  auto question = parse_question_uri(asking("sum:m"), world.context());
  ASSERT_TRUE(question);
  ASSERT_TRUE(world.ask(*question));  // writes what was put
  const std::thread::id here = std::this_thread::get_id();
  std::size_t points = 0;
  const auto count = [&](const Answer& answer, QueryBudget& budget) -> Result<void> {
    EXPECT_NE(std::this_thread::get_id(), here);
    points = answer.series.front().times.size();
    return budget.check();
  };
  ASSERT_TRUE(test::run_task(world.engine().run(*question, {}, count)));
  EXPECT_EQ(points, 5U);
  std::stop_source stop;
  const auto stopped = [&](const Answer&, QueryBudget& budget) {
    stop.request_stop();
    return budget.check();
  };
  const auto refused = test::run_task(world.engine().run(*question, stop.get_token(), stopped));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kCancelled);
  EXPECT_TRUE(world.ask(*question));  // its place is free again
}

TEST(QueryEngine, DeletesAfterAllSubQueriesWereRead) {
  QueryWorld world(QueryLayout::kCyclic);
  fill_hosts(world, 2, 3);
  Parameters both = asking("sum:m");
  both.emplace_back("m", "max:m");
  auto question = parse_question_uri(both, world.context());
  ASSERT_TRUE(question);
  question->delete_points = true;
  const auto answer = world.ask(*question);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->series.size(), 2U);
  EXPECT_EQ(answer->series[0].times.size(), answer->series[1].times.size());
  EXPECT_FALSE(answer->series[1].times.empty());
}

TEST(QueryEngine, StopsWhenAsked) {
  QueryWorld world(QueryLayout::kOpentsdb);
  fill_hosts(world, 1, 1);
  std::stop_source stop;
  stop.request_stop();
  auto question = parse_question_uri(asking("sum:m"), world.context());
  ASSERT_TRUE(question);
  EXPECT_EQ(refusal(world.ask(*question, stop.get_token())).code, Errc::kCancelled);
  EXPECT_TRUE(world.ask(*question));
}

TEST(QueryEngine, Tsuids) {
  QueryWorld world(QueryLayout::kCyclic);
  fill_hosts(world, 3, 2);
  Parameters shown = asking("sum:m");
  shown.emplace_back("show_tsuids", "");
  const auto all = world.ask_uri(shown);
  ASSERT_TRUE(all);
  ASSERT_THAT(all->series[0].tsuids, SizeIs(3));
  const Parameters two = {{"start", "1356998400"},
                          {"end", "1356999000"},
                          {"tsuid", fmt::format("sum:{},{}", to_hex(all->series[0].tsuids[0]),
                                                to_hex(all->series[0].tsuids[2]))}};
  const auto answer = world.ask_uri(two);
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_THAT(answer->series, SizeIs(1));
  EXPECT_EQ(answer->series[0].metric, "m");
  EXPECT_THAT(answer->series[0].values, ElementsAre(integer_bits(2), integer_bits(4)));
  EXPECT_THAT(answer->series[0].aggregate_tags, ElementsAre("host"));
}

TEST(QueryEngine, AnswersIdsIfAsked) {
  QueryWorld world(QueryLayout::kCyclic);
  fill_hosts(world, 2, 2);
  for (const bool with_ids : {false, true}) {
    auto question = parse_question_uri(asking("none:m"), world.context());
    ASSERT_TRUE(question);
    question->with_ids = with_ids;
    const auto alone = world.ask(*question);
    question->queries.front().aggregator = "sum";
    const auto together = world.ask(*question);
    ASSERT_TRUE(alone && together);
    const std::size_t ids = with_ids ? 1 : 0;
    EXPECT_THAT(alone->series[1].tag_ids, SizeIs(ids));
    EXPECT_THAT(alone->series[1].tsuids, SizeIs(ids));
    EXPECT_THAT(together->series[0].aggregate_tag_ids, SizeIs(ids));
    EXPECT_THAT(together->series[0].tsuids, SizeIs(2 * ids));
    EXPECT_THAT(together->series[0].aggregate_tags, ElementsAre("host"));
  }
}

TEST(QueryEngine, ExplicitTagsWithoutFiltersMeanNothing) {
  QueryWorld world(QueryLayout::kOpentsdb);
  put(world, "m host=a", kT, 1);
  put(world, "m dc=x host=a", kT, 2);
  EXPECT_EQ(world.ask_uri(asking("sum:explicit_tags:m"))->series[0].values[0], integer_bits(3));
  EXPECT_EQ(world.ask_uri(asking("sum:explicit_tags:m{host=*}"))->series[0].values[0],
            integer_bits(1));
}

TEST(QueryEngine, DeletesExactlyTheRangeItAnswered) {
  QueryWorld world(QueryLayout::kCyclic);
  fill_hosts(world, 2, 5);
  auto question =
      parse_question_uri(asking("sum:m{host=0}", kT + 60'000, kT + 120'000), world.context());
  ASSERT_TRUE(question);
  question->delete_points = true;
  question->queries.push_back(question->queries[0]);
  question->queries[1].aggregator = "max";
  const auto deleted = world.ask(*question);
  ASSERT_TRUE(deleted) << deleted.error().message;
  ASSERT_THAT(deleted->series, SizeIs(2));
  EXPECT_THAT(deleted->series[0].times, ElementsAre(kT + 60'000, kT + 120'000));
  EXPECT_EQ(deleted->series[1].times, deleted->series[0].times);
  const auto left = world.ask_uri(asking("none:m"));
  ASSERT_TRUE(left);
  EXPECT_THAT(left->series[0].times, ElementsAre(kT, kT + 180'000, kT + 240'000));
  EXPECT_THAT(left->series[1].times, SizeIs(5));
}

TEST(QueryEngine, WhoAsksForHistogramsDeletesNoPoints) {
  QueryWorld world(QueryLayout::kOpentsdb);
  fill_hosts(world, 1, 1);
  auto question = parse_question_uri(asking("sum:percentiles[99]:m"), world.context());
  ASSERT_TRUE(question);
  question->delete_points = true;
  ASSERT_TRUE(world.ask(*question));
  EXPECT_THAT(world.ask_uri(asking("sum:m"))->series, SizeIs(1));
}

TEST(QueryEngine, WhereHistogramsAreOffThereAreNone) {
  QueryWorld world(QueryLayout::kOpentsdb);
  fill_hosts(world, 1, 1);
  EXPECT_THAT(world.ask_uri(asking("sum:percentiles[99]:m"))->series, IsEmpty());
  EXPECT_EQ(refusal(world.ask_uri(asking("sum:percentiles[99]:nosuch"))).message,
            "No such name for 'metrics': 'nosuch'");
}

}  // namespace
}  // namespace halite::query
