#include "web/query_log.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/clock.h"

namespace halite::web {
namespace {

query::Question question(TimestampMs begin) {
  query::Question asked;
  asked.begin = begin;
  asked.end = begin + 1001;
  asked.queries.emplace_back();
  asked.queries[0].aggregator = "sum";
  asked.queries[0].metric = "m";
  return asked;
}

Request request() {
  Request asked;
  asked.remote = "/127.0.0.1:50123";
  asked.headers.add("Accept", "*/*");
  asked.headers.add("authorization", "Basic c2VjcmV0");
  return asked;
}

boost::json::object read(const QueryLog& log, TimestampMs now) {
  return boost::json::parse(log.json(now)).as_object();
}

TEST(QueryLog, nothing_was_asked) {
  const QueryLog log;
  EXPECT_EQ(log.json(0), "{\"completed\":[],\"running\":[]}");
}

TEST(QueryLog, a_question_runs_and_ends) {
  FakeClock clock(5000);
  QueryLog log;
  QueryLog::RunningQuery entry = log.begin(question(100), request(), clock);
  clock.advance(70);
  boost::json::object seen = read(log, clock.now_ms());
  ASSERT_EQ(seen["running"].as_array().size(), 1u);
  EXPECT_EQ(seen["running"].at(0).at("elapsed").as_int64(), 70);
  EXPECT_EQ(seen["running"].at(0).at("remote").as_string(), "/127.0.0.1:50123");
  EXPECT_EQ(seen["running"].at(0).at("headers").at("Accept").as_string(), "*/*");
  EXPECT_EQ(seen["running"].at(0).at("headers").at("authorization").as_string(), "********");
  EXPECT_EQ(seen["running"].at(0).at("query").at("start").as_string(), "100");
  EXPECT_EQ(seen["running"].at(0).at("query").at("end").as_string(), "1100");

  entry.finish(400, "No \"such\" name", {});
  seen = read(log, clock.now_ms());
  EXPECT_TRUE(seen["running"].as_array().empty());
  ASSERT_EQ(seen["completed"].as_array().size(), 1u);
  const boost::json::value& done = seen["completed"].at(0);
  EXPECT_EQ(done.at("exception").as_string(), "No \"such\" name");
  EXPECT_EQ(done.at("httpResponse").at("code").as_int64(), 400);
  EXPECT_EQ(done.at("queryStartTimestamp").as_int64(), 5000);
  EXPECT_EQ(done.at("requestHeaders").at("authorization").as_string(), "********");
  EXPECT_EQ(done.at("queryCompletedTimestamp").as_int64(), 5070);
  EXPECT_EQ(done.at("numRunningQueries").as_int64(), 1);
}

TEST(QueryLog, one_in_promql) {
  const FakeClock clock(5000);
  QueryLog log;
  query::PromqlQuestion asked;
  asked.expression = R"(up{job="a"})";
  asked.steps = {.begin = 1000, .step_ms = 500, .count = 3};
  const QueryLog::RunningQuery at_once = log.begin(asked, request(), clock);
  EXPECT_EQ(boost::json::serialize(read(log, 5000)["running"].at(0).at("query")),
            R"({"start":"1000","end":"2000","queries":[],"promql":"up{job=\"a\"}","step":0})");
  asked.range = true;
  const QueryLog::RunningQuery in_steps = log.begin(asked, request(), clock);
  EXPECT_EQ(read(log, 5000)["running"].at(0).at("query").at("step").as_int64(), 500);
}

TEST(QueryLog, one_that_is_dropped_failed) {
  const FakeClock clock(1);
  QueryLog log;
  {
    QueryLog::RunningQuery entry = log.begin(question(1), request(), clock);
    const QueryLog::RunningQuery moved = std::move(entry);
    EXPECT_EQ(read(log, 1)["running"].as_array().size(), 1u);
  }
  const boost::json::object seen = read(log, 1);
  EXPECT_EQ(seen.at("completed").at(0).at("httpResponse").at("code").as_int64(), 500);
}

TEST(QueryLog, one_that_runs_is_asked_to_stop) {
  FakeClock clock(1000);
  QueryLog log;
  std::stop_source client;
  QueryLog::RunningQuery entry = log.begin(question(1), request(), clock, client.get_token());
  QueryLog::RunningQuery other = log.begin(question(2), request(), clock);
  clock.advance(40);
  const auto seen = boost::json::parse(log.status_json(clock.now_ms())).as_object();
  const boost::json::value& run = seen.at("running").at(1);
  EXPECT_EQ(run.at("elapsedMs").as_int64(), 40);
  EXPECT_EQ(run.at("query").at("queries").at(0).at("metric").as_string(), "m");
  EXPECT_FALSE(run.at("cancelled").as_bool());
  const auto id = static_cast<std::uint64_t>(run.at("id").as_int64());

  EXPECT_FALSE(log.cancel(id + 100));
  EXPECT_FALSE(entry.stop().stop_requested());
  EXPECT_TRUE(log.cancel(id));
  EXPECT_TRUE(entry.stop().stop_requested());
  EXPECT_FALSE(other.stop().stop_requested());
  entry.finish(503, "The query was cancelled", {.points_read = 7});
  EXPECT_FALSE(log.cancel(id));
  const auto after = boost::json::parse(log.status_json(clock.now_ms())).as_object();
  const boost::json::value& done = after.at("completed").at(0);
  EXPECT_TRUE(done.at("cancelled").as_bool());
  EXPECT_EQ(done.at("status").as_int64(), 503);
  EXPECT_EQ(done.at("cost").at("pointsRead").as_int64(), 7);
}

TEST(QueryLog, who_asked_and_went_away_stops_it_too) {
  const FakeClock clock(1);
  QueryLog log;
  std::stop_source client;
  QueryLog::RunningQuery entry = log.begin(question(1), request(), clock, client.get_token());
  const QueryLog::RunningQuery moved = std::move(entry);
  EXPECT_FALSE(moved.stop().stop_requested());
  client.request_stop();
  EXPECT_TRUE(moved.stop().stop_requested());
}

TEST(QueryLog, the_oldest_are_forgotten) {
  const FakeClock clock(1);
  QueryLog log;
  for (TimestampMs i = 0; i <= static_cast<TimestampMs>(QueryLog::kCompletedMax); ++i) {
    log.begin(question(i), request(), clock).finish(200, "", {});
  }
  const boost::json::object seen = read(log, 1);
  const boost::json::array& completed = seen.at("completed").as_array();
  EXPECT_EQ(completed.size(), QueryLog::kCompletedMax);
  EXPECT_EQ(completed.front().at("query").at("start").as_string(), "256");
  EXPECT_EQ(completed.back().at("query").at("start").as_string(), "1");
}

}  // namespace
}  // namespace halite::web
