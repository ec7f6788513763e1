#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/gexp/functions.h"
#include "query/gexp/parser.h"
#include "query/gexp/run.h"

namespace halite::query {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string gexp_refusal(std::string_view text) {
  const auto call = parse_gexp(text, {});
  return call ? "parsed" : call.error().message;
}

TEST(GexpParser, ReadsNestedCalls) {
  const auto call =
      parse_gexp("alias(sum( scale(sum:1m-avg:m{host=*},2), max:n ),a b,'c,)') x", {});
  ASSERT_FALSE(call);  // "a b" is no argument
  const auto good =
      parse_gexp("alias(sum( scale(sum:1m-avg:m{host=*,dc=regexp(l.*)},2), max:n ),ab,'c,)')x", {});
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->function, "alias");
  EXPECT_THAT(good->parameters, ElementsAre("ab", "'c,)'"));
  std::vector<std::string> metrics;
  collect_metrics(*good, metrics);
  EXPECT_THAT(metrics, ElementsAre("sum:1m-avg:m{host=*,dc=regexp(l.*)}", "max:n"));
}

TEST(GexpParser, BracesOfARateAreNoTags) {
  const auto call = parse_gexp("scale(sum:rate{counter,,10000000}:m{host=a},8)", {});
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_THAT(call->parameters, ElementsAre("8"));
  std::vector<std::string> metrics;
  collect_metrics(*call, metrics);
  EXPECT_THAT(metrics, ElementsAre("sum:rate{counter,,10000000}:m{host=a}"));
  for (const char* const tags : {"host=regexp(^w{1,3}$)", "host=literal_or(web,01)", "a=b,c=*"}) {
    EXPECT_EQ(gexp_refusal(fmt::format("scale(sum:m{{{}}},8)", tags)), "parsed");
  }
  EXPECT_EQ(gexp_refusal("scale(sum:percentiles[99,99.9]:m,8)"), "parsed");
  EXPECT_EQ(gexp_refusal("scale(sum:rate{counter,,1}:m{host},8)"),
            "Failed to parse scale(sum:rate{counter,,1}:m{host},8)");
}

TEST(GexpParser, RefusesInOpentsdbsWords) {
  EXPECT_EQ(gexp_refusal("foo(sum:m)"), "Function foo has not been implemented");
  for (const std::string text : {"", "sum:m", "scale", "scale()", "scale(sum:m,2", ")(",
                                 "scale(sum:m{host=},2)", "scale(sum:m,)", "scale(sum:m{a=b,2)"}) {
    EXPECT_EQ(gexp_refusal(text), "Failed to parse " + text);
  }
}

TEST(GexpParser, LimitsHold) {
  std::string deep;
  for (int i = 0; i < 64; ++i) deep += "absolute(";
  deep += "sum:m" + std::string(64, ')');
  EXPECT_TRUE(parse_gexp(deep, {}));
  EXPECT_EQ(parse_gexp("absolute(" + deep + ")", {}).error().code, Errc::kTooLarge);
  EXPECT_EQ(parse_gexp(deep, {.bytes_max = deep.size() - 1}).error().code, Errc::kTooLarge);
}

AnswerSeries host_series(std::string metric, std::uint64_t host,
                         const std::vector<double>& values) {
  AnswerSeries one;
  one.metric = std::move(metric);
  one.tags.emplace("host", "web" + std::to_string(host));
  one.tag_ids = {{.key = "host", .key_uid = 1, .value_uid = host}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    one.times.push_back(static_cast<TimestampMs>(i) * 60'000);
    one.values.push_back(double_bits(values[i]));
    one.floats.push_back(true);
  }
  return one;
}

AnswerSeries integers(const std::vector<std::int64_t>& values) {
  AnswerSeries one = host_series("m", 1, std::vector<double>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    one.values[i] = integer_bits(values[i]);
    one.floats[i] = false;
  }
  return one;
}

Result<SeriesList> call(std::string_view function, std::vector<SeriesList> arguments,
                        const std::vector<std::string>& parameters = {}) {
  return find_gexp_function(function)(std::move(arguments), parameters);
}

std::string refused(std::string_view function, const std::vector<std::string>& parameters) {
  const auto result = call(function, {{host_series("m", 1, {1, 2})}}, parameters);
  return result ? "answered" : result.error().message;
}

std::vector<double> doubles(const AnswerSeries& one) {
  std::vector<double> values;
  for (std::size_t i = 0; i < one.values.size(); ++i) {
    EXPECT_TRUE(one.floats[i]);
    values.push_back(as_double(one.values[i]));
  }
  return values;
}

TEST(GexpFunctions, ScaleKeepsIntegersUnlessTheFactorIsNone) {
  const auto whole = call("scale", {{integers({3, -4})}}, {"-2"});
  ASSERT_TRUE(whole);
  EXPECT_FALSE((*whole)[0].floats[0]);
  EXPECT_EQ(as_integer((*whole)[0].values[1]), 8);
  EXPECT_THAT(doubles((*call("scale", {{integers({3, -4})}}, {"0.5"}))[0]), ElementsAre(1.5, -2));
  EXPECT_EQ(refused("scale", {}), "Missing scaling factor");
  EXPECT_EQ(refused("scale", {"x"}), "Unparseable scale factor value: 0.0");
  EXPECT_EQ(refused("scale", {"1.2.3"}), "Invalid parameter, must be an integer or floating point");
}

TEST(GexpFunctions, AliasReplacesTagsAndForgetsThem) {
  const auto named = call("alias", {{host_series("m", 7, {-1, 2})}}, {"cpu of @host", "x"});
  ASSERT_TRUE(named);
  EXPECT_EQ((*named)[0].metric, "cpu of web7,x");
  EXPECT_THAT((*named)[0].tags, IsEmpty());
  EXPECT_THAT(doubles((*named)[0]), ElementsAre(1, 2));
  EXPECT_EQ(refused("alias", {}), "Missing the alias");
}

TEST(GexpFunctions, AbsoluteKeepsTheLeastInteger) {
  const auto result = call("absolute", {{integers({-3, INT64_MIN})}});
  EXPECT_EQ(as_integer((*result)[0].values[0]), 3);
  EXPECT_EQ(as_integer((*result)[0].values[1]), INT64_MIN);
}

TEST(GexpFunctions, MovingAverageIsZeroUntilItsWindowIsFull) {
  const SeriesList list = {host_series("m", 1, {11, 22, 34, 48})};
  EXPECT_THAT(doubles((*call("movingAverage", {list}, {"2"}))[0]), ElementsAre(0, 16.5, 28, 41));
  EXPECT_THAT(doubles((*call("movingAverage", {list}, {"1"}))[0]), ElementsAre(11, 22, 34, 48));
  EXPECT_THAT(doubles((*call("movingAverage", {list}, {"5"}))[0]), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(doubles((*call("movingAverage", {list}, {"'2min'"}))[0]), ElementsAre(0, 0, 28, 41));
  EXPECT_THAT(doubles((*call("movingAverage", {list}, {"'60s'"}))[0]), ElementsAre(0, 22, 34, 48));
  const SeriesList gap = {host_series("m", 1, {1, NAN, 3, 4})};
  const auto values = doubles((*call("movingAverage", {gap}, {"2"}))[0]);
  EXPECT_TRUE(std::isnan(values[1]) && std::isnan(values[2]));
  EXPECT_EQ(values[3], 3.5);
}

TEST(GexpFunctions, MovingAverageRefusesWindows) {
  EXPECT_EQ(refused("movingAverage", {}), "Missing moving average window size");
  for (const char* const window : {"0", "-1", "x", "'0min'", "'5'", "''", "1.5"}) {
    EXPECT_EQ(refused("movingAverage", {window}),
              "Moving average window must be an integer greater than zero");
  }
  EXPECT_EQ(refused("movingAverage", {"'2foo'"}), "Unknown time unit=foo in window='2foo'");
}

TEST(GexpFunctions, HighestAreSortedAndCut) {
  const SeriesList list = {host_series("m", 1, {1, 9}), host_series("m", 2, {20, 2}),
                           host_series("m", 3, {5, NAN})};
  const auto by_max = call("highestMax", {list}, {"2"});
  ASSERT_THAT(*by_max, SizeIs(2));
  EXPECT_EQ((*by_max)[0].tags.find("host")->second, "web2");
  EXPECT_EQ((*by_max)[1].tags.find("host")->second, "web1");
  const auto by_last = call("highestCurrent", {list}, {"5"});
  ASSERT_THAT(*by_last, SizeIs(3));
  EXPECT_EQ((*by_last)[0].tags.find("host")->second, "web1");
  EXPECT_EQ((*by_last)[1].tags.find("host")->second, "web3");
  EXPECT_EQ(refused("highestMax", {}), "Need aggregation window for moving average");
  EXPECT_EQ(refused("highestMax", {"x"}), "Unparseable top n value: x");
  EXPECT_EQ(refused("highestMax", {"0"}), "Top n value must be greater than zero: 0");
}

TEST(GexpFunctions, ArithmeticJoinsEqualTagsAndFillsWithZeros) {
  const SeriesList left = {host_series("m", 1, {6, 8}), host_series("m", 2, {1, 1})};
  const SeriesList right = {host_series("n", 1, {2, 0})};
  const auto quotient = call("divide", {left, right});
  ASSERT_TRUE(quotient) << quotient.error().message;
  ASSERT_THAT(*quotient, SizeIs(2));
  EXPECT_THAT(doubles((*quotient)[0]), ElementsAre(3, 0));
  EXPECT_THAT(doubles((*quotient)[1]), ElementsAre(0, 0));
  EXPECT_TRUE((*quotient)[0].has_annotations);
  EXPECT_THAT(doubles((*call("diffSeries", {right, left}))[0]), ElementsAre(-4, -8));
  EXPECT_THAT(doubles((*call("sum", {left, right, left}))[0]), ElementsAre(14, 16));
  EXPECT_THAT(doubles((*call("multiply", {left, left}))[1]), ElementsAre(1, 1));
  EXPECT_EQ(call("sum", {left, {host_series("n", 1, {2})}}).error().message, "No more elements");
  EXPECT_EQ(call("sum", {left}).error().message, "Must have 2 to 26 series, got 1 instead");
  EXPECT_FALSE(call("sum", std::vector<SeriesList>(27, left)));
}

TEST(GexpFunctions, ShiftMovesPointsToLaterTimes) {
  const SeriesList list = {host_series("m", 1, {1, 2})};
  const auto minute = [](std::int64_t n) { return n * 60'000; };
  for (const std::string name : {"shift", "timeShift"}) {
    EXPECT_THAT((*call(name, {list}, {"'5min'"}))[0].times, ElementsAre(minute(5), minute(6)));
  }
  const std::vector<std::pair<const char*, std::int64_t>> units = {
      {"'300000ms'", 5},   {"'60s'", 1},      {"'60sec'", 1},      {"'60seconds'", 1},
      {"'1m'", 1},         {"'2MINUTES'", 2}, {"'1h'", 60},        {"'1hr'", 60},
      {"'1hour'", 60},     {"'1d'", 1440},    {"'2days'", 2880},   {"'1w'", 10080},
      {"'1weeks'", 10080}, {"'1n'", 43200},   {"'1month'", 43200}, {"'1y'", 525600},
      {"'0s'", 0},
  };
  for (const auto& [text, minutes] : units) {
    const auto shifted = call("shift", {list}, {text});
    ASSERT_TRUE(shifted) << text << ": " << shifted.error().message;
    EXPECT_EQ((*shifted)[0].times[0], minute(minutes)) << text;
    if (minutes > 0)
      EXPECT_NE(refused("movingAverage", {text}).find("answered"), std::string::npos);
  }
  SeriesList deep = {host_series("m", 1, {1})};
  for (int i = 0; i < 64; ++i) deep = *call("shift", {deep}, {"'9999999999999ms'"});
  EXPECT_EQ(deep[0].times[0], 64 * 9'999'999'999'999);
  EXPECT_EQ(refused("shift", {"'73000000y'"}), "Invalid Parameter: '73000000y'");
  EXPECT_EQ(refused("shift", {}), "Need amount of timeshift to perform timeshift");
  EXPECT_EQ(refused("shift", {"1min"}), "Invalid timeshift parameter: eg '10min'");
  EXPECT_EQ(refused("shift", {"'"}), "Invalid timeshift parameter: eg '10min'");
  EXPECT_EQ(refused("shift", {"'min'"}), "Invalid Parameter: 'min'");
  EXPECT_EQ(refused("shift", {"'9223372036854775807y'"}),
            "Invalid Parameter: '9223372036854775807y'");
  EXPECT_EQ(refused("shift", {"'2foo'"}),
            "unknown time unit=foo in '2foo': use ms, sec, min, hr, day, week, month or year");
}

ParseContext at_noon() {
  ParseContext context;
  context.now = 1'400'000'000'000;
  return context;
}

TEST(GexpQuestion, ShiftsAreRefusedWhereOpentsdbsAnswersAreWanted) {
  const auto refused =
      parse_gexp_question({{"start", "1356998400"}, {"exp", "scale(timeShift(sum:m,'1hr'),2)"}},
                          at_noon(), {.shift = false, .expressions_max = 8, .expression = {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(refused.error().message, "unknown time unit=hr'");
  EXPECT_EQ(refused.error().details, "unknown time unit=hr'");
}

TEST(GexpQuestion, TextsThatMeanTheSameShareASubQuery) {
  const auto question = parse_gexp_question(
      {{"start", "1356998400"}, {"exp", "scale(sum:m,2)"}, {"exp", "sum(sum:m{},sum:n)"}},
      at_noon(), {});
  ASSERT_TRUE(question) << question.error().message;
  EXPECT_THAT(question->question.queries, SizeIs(2));
  EXPECT_EQ(question->queries.at("sum:m"), question->queries.at("sum:m{}"));
  EXPECT_THAT(question->calls, SizeIs(2));
}

TEST(GexpQuestion, WantsAStartAndSubQueries) {
  const ParseContext context = at_noon();
  EXPECT_EQ(parse_gexp_question({{"exp", "bad"}}, context, {}).error().message,
            "Missing parameter <code>start</code>");
  EXPECT_EQ(parse_gexp_question({{"start", "1h-ago"}}, context, {}).error().message,
            "Missing sub queries");
  EXPECT_EQ(
      parse_gexp_question({{"start", "1h-ago"}, {"exp", "scale(2)"}}, context, {}).error().message,
      "Missing sub queries");
  EXPECT_EQ(parse_gexp_question(
                {{"start", "1h-ago"}, {"exp", "absolute(sum:m)"}, {"exp", "absolute(sum:m)"}},
                context, {.expressions_max = 1, .expression = {}})
                .error()
                .code,
            Errc::kTooLarge);
}

}  // namespace
}  // namespace halite::query
