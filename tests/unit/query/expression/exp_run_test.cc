#include "query/expression/exp_run.h"

#include <cmath>
#include <stop_token>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::query {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::NanSensitiveDoubleEq;
using testing::SizeIs;

constexpr TimestampMs kT = 1'356'998'400'000;

// Metrics a (sub-query 0) and b (sub-query 1), grouped by host.
ExpQuestion question(const std::string& expressions, const std::string& outputs = "null",
                     const std::string& fill = "null") {
  const std::string body = fmt::format(
      R"({{"time":{{"start":"1356998400","end":"1356998520","aggregator":"sum"}},
           "filters":[{{"id":"f","tags":[{{"type":"wildcard","tagk":"host","filter":"*"}}]}}],
           "metrics":[{{"id":"a","metric":"m.a","filter":"f","fillPolicy":{}}},
                      {{"id":"b","metric":"m.b","filter":"f","fillPolicy":{}}}],
           "expressions":{},"outputs":{}}})",
      fill, fill, expressions, outputs);
  ParseContext context;
  context.now = kT;
  auto parsed = parse_exp_question(body, context, {});
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? *std::move(parsed) : ExpQuestion{};
}

AnswerSeries series_of_query(std::size_t query, std::uint64_t host,
                             const std::vector<std::pair<int, double>>& points) {
  AnswerSeries one;
  one.query_index = query;
  one.metric = query == 0 ? "m.a" : "m.b";
  one.tags.emplace("host", "web" + std::to_string(host));
  one.tag_ids = {{.key = "host", .key_uid = 1, .value_uid = host}};
  for (const auto& [seconds, value] : points) {
    one.times.push_back(kT + seconds * 1000);
    one.values.push_back(double_bits(value));
    one.floats.push_back(true);
  }
  return one;
}

Answer answer() {
  Answer made;
  made.series = {series_of_query(0, 1, {{0, 1}, {60, 2}, {300, 9}}),
                 series_of_query(0, 2, {{0, 10}}), series_of_query(1, 1, {{0, 5}, {30, 6}}),
                 series_of_query(1, 3, {{60, 7}})};
  return made;
}

Result<std::vector<ExpTable>> run_within(const QueryLimits& limits, const ExpQuestion& asked,
                                         const Answer& from = answer(), std::stop_token stop = {}) {
  const FakeClock clock(kT);
  QueryBudget budget(limits, clock, std::move(stop));
  auto tables = run_exp(asked, from, budget);
  EXPECT_EQ(budget.bytes(), 0);  // all was given back
  return tables;
}

Result<std::vector<ExpTable>> run(const ExpQuestion& asked, std::uint64_t values_max = 1000) {
  return run_within({.output_points_max = values_max}, asked);
}

const std::string kNanFill = R"({"policy":"nan"})";

TEST(ExpRun, TimesAreAllThoseOfTheInputsInTheRange) {
  const auto tables = run(question(R"([{"id":"e","expr":"a + b"}])"));
  ASSERT_TRUE(tables) << tables.error().message;
  ASSERT_THAT(*tables, SizeIs(1));
  const ExpTable& e = tables->front();
  EXPECT_THAT(e.times, ElementsAre(kT, kT + 30'000, kT + 60'000));
  ASSERT_THAT(e.values, SizeIs(3));
  EXPECT_THAT(e.values[0], ElementsAre(6, 6, 2));
  EXPECT_THAT(e.values[1], ElementsAre(10, 0, 0));
  EXPECT_THAT(e.values[2], ElementsAre(0, 0, 7));
  EXPECT_EQ(e.first_time, kT);
  EXPECT_EQ(e.last_time, kT + 60'000);
}

TEST(ExpRun, MissingValuesAreFilledMissingSeriesAreZero) {
  const auto tables = run(question(R"([{"id":"e","expr":"a + b"}])", "null", kNanFill));
  ASSERT_TRUE(tables);
  const auto& values = tables->front().values;
  EXPECT_THAT(values[0], ElementsAre(6, NanSensitiveDoubleEq(NAN), NanSensitiveDoubleEq(NAN)));
  EXPECT_THAT(values[2], ElementsAre(NanSensitiveDoubleEq(NAN), NanSensitiveDoubleEq(NAN), 7));
}

TEST(ExpRun, MetricsAreToldAsTheyWereReadWithZeros) {
  const auto tables = run(question("null", R"([{"id":"a"}])", kNanFill));
  ASSERT_TRUE(tables);
  EXPECT_THAT(tables->front().times, ElementsAre(kT, kT + 60'000, kT + 300'000));
  EXPECT_THAT(tables->front().values[1], ElementsAre(10, 0, 0));
  EXPECT_EQ(tables->front().last_time, kT + 300'000);
}

TEST(ExpRun, NestedExpressionsNeedAFillPolicyForWhatIsMissing) {
  const std::string nested = R"([{{"id":"e2","expr":"e * 2"}},{{"id":"e","expr":"a + b"{}}}])";
  const std::string bare = fmt::format(fmt::runtime(nested), "");
  const auto refused = run(question(bare, "null", kNanFill));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("give e a fillPolicy"));
  // What is not told is not computed.
  EXPECT_TRUE(run(question(bare, R"([{"id":"e"}])", kNanFill)));

  const std::string filled =
      fmt::format(fmt::runtime(nested), R"(,"fillPolicy":{"policy":"scalar","value":3})");
  const auto tables = run(question(filled, R"([{"id":"e2","alias":"Two"}])", kNanFill));
  ASSERT_TRUE(tables) << tables.error().message;
  EXPECT_EQ(tables->front().alias, "Two");
  // web3 has no tags left in e, so it comes first here.
  EXPECT_THAT(tables->front().values[0], ElementsAre(6, 6, 14));
}

TEST(ExpRun, CirclesAreRefused) {
  EXPECT_EQ(run(question(R"([{"id":"e","expr":"e + a"}])")).error().message,
            "Self referencing expression found: e");
  EXPECT_EQ(
      run(question(R"([{"id":"e","expr":"e2 + a"},{"id":"e2","expr":"e + a"}])")).error().message,
      "Circular reference found: e2");
}

TEST(ExpRun, EmptyAndSingleRowsHaveOpentsdbsRanges) {
  const ExpQuestion both = question(R"([{"id":"e","expr":"a"}])", R"([{"id":"e"},{"id":"a"}])");
  const auto empty = run_within({}, both, Answer{});
  ASSERT_TRUE(empty);
  EXPECT_THAT((*empty)[0].times, IsEmpty());
  EXPECT_EQ((*empty)[0].first_time, 0);
  EXPECT_EQ((*empty)[1].first_time, INT64_MAX);
  Answer one;
  one.series = {series_of_query(0, 1, {{0, 1}})};
  const auto single = run_within({}, both, one);
  EXPECT_EQ((*single)[0].last_time, 0);
  EXPECT_EQ((*single)[1].last_time, kT);
}

TEST(ExpRun, ValuesHaveAMaximumAndRunsCanBeStopped) {
  const ExpQuestion asked = question(R"([{"id":"e","expr":"a + b"}])");
  // Four times (one outside the range asked) in three columns are computed, three times told.
  EXPECT_TRUE(run(asked, 21));
  EXPECT_EQ(run(asked, 20).error().code, Errc::kTooLarge);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(run_within({}, asked, answer(), stop.get_token()).error().code, Errc::kCancelled);
}

TEST(ExpRun, MemoryAtItsMaximumAndOneLess) {
  const ExpQuestion asked = question(R"([{"id":"e","expr":"a + b"}])");
  // Seven points are read and 21 values made, with their times.
  EXPECT_TRUE(run_within({.bytes_max = 28 * 16}, asked));
  const auto refused = run_within({.bytes_max = 28 * 16 - 1}, asked);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kTooLarge);
  EXPECT_THAT(refused.error().message, HasSubstr("query.bytes_max"));
}

TEST(ExpRun, UnknownOutputsAreLeftOut) {
  const auto tables = run(question("null", R"([{"id":"nosuch"}])"));
  ASSERT_TRUE(tables);
  EXPECT_THAT(*tables, IsEmpty());
}

}  // namespace
}  // namespace halite::query
