// What `halite compare` asks, and what it calls a difference.
#include "app/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/client/server_url.h"
#include "app/compare/answers.h"
#include "app/compare/compare_queries.h"

namespace halite::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr TimestampMs kQueryNow = 1'357'000'000'000;

std::vector<std::string> targets(const CompareQueries& file) {
  std::vector<std::string> found;
  for (const CompareQuery& one : file.queries) found.push_back(one.target + one.body);
  return found;
}

TEST(CompareQuery, TakesEveryFormOfALine) {
  const CompareQueries file = read_compare_queries(
      "# a remark\n"
      "\n"
      "/api/query?start=1&m=sum:a\r\n"
      "  start=1&m=sum:b  \n"
      "?start=1&m=sum:c\n"
      "http://tsd:4242/api/v1/query?start=1&m=sum:d\n"
      R"({"start":1,"queries":[]})");
  EXPECT_THAT(targets(file),
              ElementsAre("/api/query?start=1&m=sum:a", "/api/query?start=1&m=sum:b",
                          "/api/query?start=1&m=sum:c", "/api/v1/query?start=1&m=sum:d",
                          R"(/api/query{"start":1,"queries":[]})"));
  EXPECT_THAT(file.bad, IsEmpty());
  EXPECT_EQ(file.queries[1].line, 4U);
}

TEST(CompareQuery, TakesGetsOfAnAccessLog) {
  const std::string before = R"(10.0.0.1 - - [22/Nov/2026:10:00:00 +0000] ")";
  const CompareQueries file = read_compare_queries(
      before + R"(GET /api/query?start=1h-ago&m=sum:a HTTP/1.1" 200 12 "-" "curl/7")" + "\n" +
      before + R"(GET http://tsd/api/query?start=1h-ago&m=sum:b HTTP/1.0" 200 12)" + "\n" + before +
      R"(POST /api/query HTTP/1.1" 200 12)" + "\n" + before +
      R"(GET /api/suggest?type=metrics HTTP/1.1" 200 12)" + "\n" + before +
      R"(GET /api/query?start=1&m=sum:a&method_override=delete HTTP/1.1" 200 12)" + "\n" + before +
      R"(DELETE /api/query?start=1&m=sum:a HTTP/1.1" 200 12)" + "\n" + before +
      R"(GET /api/query/last?timeseries=a HTTP/1.1" 200 12)");
  EXPECT_THAT(targets(file),
              ElementsAre("/api/query?start=1h-ago&m=sum:a", "/api/query?start=1h-ago&m=sum:b"));
  EXPECT_EQ(file.posts, 1U);
  EXPECT_EQ(file.other, 4U);
  EXPECT_THAT(file.bad, IsEmpty());
}

TEST(CompareQuery, AsksOnceWhatStandsThereOften) {
  const CompareQueries file =
      read_compare_queries("start=1&m=sum:a\nstart=1&m=sum:b\n/api/query?start=1&m=sum:a\n");
  ASSERT_EQ(file.queries.size(), 2U);
  EXPECT_EQ(file.queries[0].times, 2U);
  EXPECT_EQ(file.queries[0].line, 1U);
}

TEST(CompareQuery, NamesLinesThatAreNoQueries) {
  for (const char* line : {"hello", "/api/put?x=1", "/api/query", R"({"start":)", "two words=1",
                           R"({"start":1,"delete":true})", "/api/query?delete=true&m=sum:a",
                           "/api/query?start=1&method%5foverride=delete"}) {
    const CompareQueries file = read_compare_queries(line);
    EXPECT_THAT(file.queries, IsEmpty()) << line;
    ASSERT_EQ(file.bad.size(), 1U) << line;
    EXPECT_EQ(file.bad[0].line, 1U);
    EXPECT_FALSE(file.bad[0].why.empty());
  }
}

TEST(CompareQuery, FixesTimesThatMove) {
  const auto pinned_one = [](const char* line) {
    const CompareQueries file = read_compare_queries(line);
    return pinned(file.queries.at(0), kQueryNow);
  };
  EXPECT_EQ(pinned_one("start=1h-ago&m=sum:a{host=x%7Cy}").target,
            "/api/query?start=1356996400000&m=sum:a{host=x%7Cy}&end=1357000000000");
  EXPECT_EQ(pinned_one("m=sum:a&start=2013/01/01&end=now").target,
            "/api/query?m=sum:a&start=2013/01/01&end=1357000000000");
  EXPECT_EQ(pinned_one("start=1&end=2&m=sum:a").target, "/api/query?start=1&end=2&m=sum:a");
  EXPECT_EQ(pinned_one("start=x-ago&end=2&m=sum:a").target, "/api/query?start=x-ago&end=2&m=sum:a");
  EXPECT_EQ(pinned_one(R"({"start":"1h-ago","queries":[]})").body,
            R"({"start":"1356996400000","queries":[],"end":1357000000000})");
  EXPECT_EQ(pinned_one(R"({"start":1,"end":"1m-ago"})").body,
            R"({"start":1,"end":"1356999940000"})");
}

std::vector<std::string> told(std::string_view opentsdb, std::string_view halite,
                              CompareRules rules = {}) {
  const auto lines = differences(opentsdb, halite, rules);
  return lines ? *lines : std::vector<std::string>{"error: " + lines.error().message};
}

TEST(Differences, OrderAndSpellingAreNone) {
  EXPECT_THAT(told(R"([{"metric":"a","tags":{"h":"1","z":"2"},"aggregateTags":["x","y"],
                "dps":{"10":1,"20":2.50,"30":"NaN","40":1e3}},
               {"metric":"a","tags":{"h":"2"},"aggregateTags":[],"dps":{}}])",
                   R"([{"metric":"a","tags":{"h":"2"},"aggregateTags":[],"dps":[]},
               {"metric":"a","aggregateTags":["y","x"],"tags":{"z":"2","h":"1"},"tsuids":["00"],
                "dps":{"40":1000,"10":1.0,"20":2.5000000001,"30":"NaN"}},
               {"statsSummary":{"x":1}}])"),
              IsEmpty());
}

TEST(Differences, PointsOfTheSameSeries) {
  EXPECT_THAT(
      told(R"([{"metric":"a","tags":{},"dps":{"10":1,"20":2,"30":3}}])",
           R"([{"metric":"a","tags":{},"dps":{"10":1,"20":5,"40":4}}])"),
      ElementsAre("a {}: 3 points differ (opentsdb has 3, halite 3)", "  20: opentsdb 2, halite 5",
                  "  30: opentsdb 3, halite nothing", "  40: opentsdb nothing, halite 4"));
}

TEST(Differences, WholeNumbersAreExactAndDoublesNearlySo) {
  const auto one = [](std::string_view a, std::string_view b, double tolerance) {
    const std::string begin = R"([{"metric":"a","tags":{},"dps":{"1":)";
    CompareRules rules;
    rules.tolerance = tolerance;
    return told(begin + std::string(a) + "}}]", begin + std::string(b) + "}}]", rules).empty();
  };
  EXPECT_TRUE(one("9223372036854775807", "9223372036854775807", 1));
  EXPECT_FALSE(one("9223372036854775807", "9223372036854775806", 1));
  EXPECT_TRUE(one("1.0000000001", "1", 1e-9));
  EXPECT_FALSE(one("1.0000000001", "1", 0));
  EXPECT_TRUE(one("0.0", "-0.0", 0));
  EXPECT_FALSE(one("1.0", "-1.0", 0.5));
  EXPECT_FALSE(one("\"NaN\"", "0", 1));
  EXPECT_FALSE(one("null", "\"NaN\"", 1));
}

TEST(Differences, SeriesThatOnlyOneHas) {
  EXPECT_THAT(
      told(R"([{"metric":"a","tags":{"h":"1"},"dps":{"1":1}}])",
           R"([{"metric":"a","tags":{"h":"1"},"aggregateTags":["z"],"dps":{"1":1,"2":2}}])"),
      ElementsAre("only opentsdb returned a {h=1}: 1 points",
                  "only halite returned a {h=1} over z: 2 points"));
}

TEST(Differences, SeriesOfOneNameAreComparedInTheirOrder) {
  const char* const two =
      R"([{"metric":"a","tags":{},"dps":{"1":1}},{"metric":"a","tags":{},"dps":{"1":2}}])";
  EXPECT_THAT(told(two, two), IsEmpty());
  EXPECT_THAT(told(two, R"([{"metric":"a","tags":{},"dps":{"1":1}}])"),
              ElementsAre("only opentsdb returned a {} (no. 2): 1 points"));
}

TEST(Differences, ShowsSomeAndCountsTheRest) {
  CompareRules rules;
  rules.shown_max = 1;
  EXPECT_THAT(
      told(R"([{"metric":"a","tags":{},"dps":{"1":1,"2":2}},{"metric":"b","tags":{},"dps":{}}])",
           "[]", rules),
      ElementsAre("only opentsdb returned a {}: 2 points", "and 1 more series"));
  EXPECT_THAT(told(R"([{"metric":"a","tags":{},"dps":{"1":1,"2":2}}])",
                   R"([{"metric":"a","tags":{},"dps":[[1,3],[2,4]]}])", rules),
              ElementsAre("a {}: 2 points differ (opentsdb has 2, halite 2)",
                          "  1: opentsdb 1, halite 3", "  and 1 more"));
}

TEST(Differences, WhatIsNoAnswerIsAnError) {
  EXPECT_THAT(told("<html>", "[]"),
              ElementsAre(HasSubstr("opentsdb did not return a list of series")));
  EXPECT_THAT(told("[]", "{}"), ElementsAre(HasSubstr("halite did not return a list of series")));
  for (const char* dps : {"7", R"({"x":1})", R"([[1,2,3]])", R"([["a",1]])"}) {
    const std::string answer = std::string(R"([{"metric":"a","dps":)") + dps + "}]";
    EXPECT_THAT(told("[]", answer), ElementsAre(HasSubstr("halite returned invalid points")));
  }
  EXPECT_THAT(told("[]", R"([{"metric":"a","dps":[[1,2],[1,2]]}])"),
              ElementsAre(HasSubstr("halite returned two points with the time 1")));
}

TEST(ServerUrl, TakesHostPortAndPrefix) {
  const auto url = parse_server_url("http://tsd.example:8080/base/");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_EQ(url->host, "tsd.example");
  EXPECT_EQ(url->port, "8080");
  EXPECT_EQ(url->prefix, "/base");
  EXPECT_FALSE(url->secure);
  EXPECT_EQ(parse_server_url("http://tsd")->port, "4242");
  EXPECT_TRUE(parse_server_url("https://tsd")->secure);
  const auto v6 = parse_server_url("http://[::1]:80");
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->port, "80");
}

TEST(ServerUrl, RefusesTheRest) {
  for (const char* text : {"", "tsd:4242", "ftp://tsd", "https://", "http://", "http://:4242",
                           "http://tsd:", "http://tsd:0", "http://tsd:99999", "http://tsd:x",
                           "http://[::1", "http://tsd/x?y=1", "http://tsd/x y",
                           "http://tsd/x\r\nX-Evil:1", "http://user:secret@tsd"}) {
    EXPECT_FALSE(parse_server_url(text)) << text;
  }
}

TEST(ServerUrl, SaysWhatIsWrong) {
  const auto fault = [](std::string_view text) { return parse_server_url(text).error().message; };
  EXPECT_THAT(fault("http://tsd:99999"), HasSubstr("\"99999\" is not a port, 1 to 65535"));
  EXPECT_THAT(fault("http://tsd:"), HasSubstr("\"\" is not a port"));
  for (const char* const text : {"http://tsd:4242?x=1", "http://tsd?x", "http://tsd#x",
                                 "http://tsd/x?y=1", "http://[::1]#x"}) {
    EXPECT_THAT(fault(text), HasSubstr("it has more than a path")) << text;
  }
}

TEST(ServerUrl, IsTheSameServerByAnotherName) {
  const auto same = [](std::string_view one, std::string_view other) {
    return is_same_server(parse_server_url(one).value(), parse_server_url(other).value());
  };
  EXPECT_TRUE(same("http://127.0.0.1:4242", "http://localhost"));
  EXPECT_TRUE(same("http://LOCALHOST", "http://[::1]/"));
  EXPECT_FALSE(same("http://127.0.0.1", "http://127.0.0.2"));
  EXPECT_TRUE(same("http://TSD.example/a", "http://tsd.example/a"));
  EXPECT_FALSE(same("http://127.0.0.1:4242", "http://localhost:4243"));
  EXPECT_FALSE(same("http://tsd/a", "http://tsd/b"));
  EXPECT_FALSE(same("http://127.0.0.1", "http://127.tsd.example"));
  EXPECT_FALSE(same("http://localhost", "http://tsd"));
}

TEST(Compare, SaysWhyItAsksNothing) {
  CompareOptions options;
  options.opentsdb = "http://127.0.0.1:1";
  options.halite = "http://127.0.0.1:1";
  std::vector<std::string> errors;
  const auto run = [&] {
    errors.clear();
    return compare(
        options, SystemClock(), [](std::string_view) {},
        [&errors](std::string_view line) { errors.emplace_back(line); });
  };
  options.queries = "/nowhere/queries.txt";
  EXPECT_EQ(run(), CompareStatus::kNotAsked);
  EXPECT_THAT(errors, ElementsAre("cannot read /nowhere/queries.txt"));
  options.halite = "halite:4242";
  EXPECT_EQ(run(), CompareStatus::kNotAsked);
  EXPECT_THAT(errors, ElementsAre(HasSubstr("bad URL \"halite:4242\"")));
}

}  // namespace
}  // namespace halite::app
