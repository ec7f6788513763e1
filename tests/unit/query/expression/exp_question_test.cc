#include "query/expression/exp_question.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::query {
namespace {

using testing::SizeIs;

constexpr std::string_view kTime =
    R"("time":{"start":"1356998400","end":1356999000,"aggregator":"sum"})";
constexpr std::string_view kFilters =
    R"("filters":[{"id":"f1","tags":[{"type":"wildcard","tagk":"host","filter":"*","groupBy":true}]}])";
constexpr std::string_view kMetrics =
    R"("metrics":[{"id":"a","metric":"m.a","filter":"f1"},{"id":"b","metric":"m.a","filter":"f1"}])";

Result<ExpQuestion> ask(const std::string& body) {
  ParseContext context;
  context.now = 1'400'000'000'000;
  return parse_exp_question(body, context, {.expressions_max = 2, .expression = {}});
}

std::string exp_refusal(const std::string& body) {
  const auto question = ask(body);
  if (question) return "parsed";
  EXPECT_EQ(question.error().code, Errc::kInternal) << body;
  const std::string& details = question.error().details;  // OpenTSDB's words, and why
  EXPECT_TRUE(details.empty() || details.starts_with(question.error().message + ": ")) << details;
  return question.error().message;
}

std::string with(std::string_view more) {
  return fmt::format("{{{},{},{}{}{}}}", kTime, kFilters, kMetrics, more.empty() ? "" : ",", more);
}

TEST(ExpQuestion, MetricsThatAskForTheSameShareASubQuery) {
  const auto question = ask(with(R"("expressions":[{"id":"e","expr":"a + b"}])"));
  ASSERT_TRUE(question) << question.error().message;
  EXPECT_THAT(question->question.queries, SizeIs(1));
  EXPECT_EQ(question->metrics[1].query, 0U);
  EXPECT_TRUE(question->question.whole_scan);
  EXPECT_TRUE(question->question.with_ids);
  EXPECT_EQ(question->question.end, 1'356'999'000'001);
  EXPECT_TRUE(question->question.queries[0].filters[0].group_by);
  EXPECT_FALSE(question->outputs);
}

TEST(ExpQuestion, RefusesInOpentsdbsWords) {
  EXPECT_EQ(exp_refusal(""), "Incoming data was null or empty");
  EXPECT_EQ(exp_refusal("{}"), "missing time");
  EXPECT_EQ(exp_refusal(R"({"time":{"start":"abc","aggregator":"sum"}})"), "Invalid time");
  EXPECT_EQ(exp_refusal(R"({"time":{"start":"1356998400","aggregator":"foo"}})"), "Invalid time");
  EXPECT_EQ(exp_refusal(fmt::format("{{{}}}", kTime)), "missing or empty metrics");
  EXPECT_EQ(exp_refusal(fmt::format("{{{},{}}}", kTime, kMetrics)), "No filter defined: f1");
  EXPECT_EQ(exp_refusal(fmt::format(R"({{{},"metrics":[{{"id":"1","metric":"m"}}]}})", kTime)),
            "Invalid metric at index 0");
  EXPECT_EQ(
      exp_refusal(fmt::format(R"({{{},{},"metrics":[{{"id":"a","metric":"m","filter":"x"}}]}})",
                              kTime, kFilters)),
      "unrecognized filter id x in metric a");
  EXPECT_EQ(exp_refusal(with(R"("expressions":[{"id":"a","expr":"b"}])")),
            "Duplicated variable or expression id: a");
  EXPECT_EQ(exp_refusal(with(R"("expressions":[{"id":"e","expr":""}])")),
            "Invalid expression at index 0");
  EXPECT_EQ(exp_refusal(with(R"("expressions":[{"id":"e","expr":"nosuch + a"}])")),
            "Expression [nosuch + a] was missing input nosuch");
  EXPECT_EQ(exp_refusal(with(R"("expressions":[{"id":"e","expr":"1 + 1"}])")),
            "The expression didn't appear to have any variables");
  EXPECT_EQ(exp_refusal(with(R"("expressions":[{"id":"e","expr":"a","join":{"operator":"foo"}}])")),
            "Unrecognized set operator: foo");
  EXPECT_EQ(
      exp_refusal(with(R"("expressions":[{"id":"e","expr":"a","fillPolicy":{"policy":"x"}}])")),
      "Unrecognized fill policy: x");
}

TEST(ExpQuestion, RefusesTheWrongTypes) {
  for (const char* const body :
       {"[]", "null", "abc", "{\"time\":5}", "{\"time\":{\"start\":{}}}"}) {
    EXPECT_NE(exp_refusal(body), "parsed") << body;
  }
  EXPECT_NE(exp_refusal(with(R"("expressions":{"id":"e"})")), "parsed");
  EXPECT_NE(exp_refusal(with(R"("outputs":[5])")), "parsed");
}

TEST(ExpQuestion, ExpressionsHaveAMaximum) {
  const std::string two = R"("expressions":[{"id":"e","expr":"a"},{"id":"f","expr":"a"})";
  EXPECT_TRUE(ask(with(two + "]")));
  const auto three = ask(with(two + R"(,{"id":"g","expr":"a"}])"));
  ASSERT_FALSE(three);
  EXPECT_EQ(three.error().code, Errc::kTooLarge);
}

}  // namespace
}  // namespace halite::query
