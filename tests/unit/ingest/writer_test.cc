#include "ingest/writer.h"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/log.h"
#include "tests/support/log_capture.h"
#include "tests/unit/ingest/writer_fixture.h"

namespace halite::ingest {
namespace {

using test::run_task;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string point(std::string_view metric, int time, std::string_view value,
                  std::string_view host = "a") {
  return fmt::format(R"({{"metric":"{}","timestamp":{},"value":{},"tags":{{"host":"{}"}}}})",
                     metric, time, value, host);
}

std::string array(const std::vector<std::string>& points) {
  return fmt::format("[{}]", fmt::join(points, ","));
}

PutOutcome put(WriterFixture& fixture, std::string body, PutOptions put_options = {}) {
  auto outcome = run_task(fixture.writer.put_json(std::move(body), put_options));
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? *std::move(outcome) : PutOutcome{};
}

TEST(PutJsonBody, PointsReachTheStoreInOrder) {
  WriterFixture fixture;
  const PutOutcome outcome =
      put(fixture, array({point("m", 1, "1"), point("n", 2, "2.5"), point("m", 1, "\"3\""),
                          point("m", 1, "1e1"), point("m", 5, "5")}));
  EXPECT_EQ(outcome.success, 5U);
  EXPECT_EQ(outcome.failed, 0U);
  EXPECT_THAT(fixture.stored(),
              ElementsAre("m 1000 1 host=a", "n 2000 2.5 host=a", "m 1000 3 host=a",
                          "m 1000 10 host=a", "m 5000 5 host=a"));
}

TEST(PutJsonBody, ForgottenSeriesAreLookedUpAgain) {
  WriterFixture fixture;
  put(fixture, point("m", 1, "1"));
  put(fixture, point("m", 2, "1"));
  EXPECT_THAT(fixture.store.interned(), ElementsAre(1U));
  fixture.writer.clear_series_cache();
  put(fixture, point("m", 3, "1"));
  EXPECT_THAT(fixture.store.interned(), ElementsAre(1U, 1U));
}

// A rule names half of this character.
TEST(PutJsonBody, RefusedPointsAreLoggedWithTheirCharacters) {
  WriterFixture fixture;
  const test::LogCapture log;
  put(fixture, point("m", 1, "1", "😀"));
  EXPECT_THAT(log.text(), testing::HasSubstr(R"-([host] (\"\uD83D\uDE00\"): illegal character: )-"
                                             "\uFFFD"));
}

// The answer without details sends its reader to the log.
TEST(PutJsonBody, RefusedPointsAreLoggedUpToAMaximumASecond) {
  IngestOptions options;
  options.limits.refused_log_lines_max = 2;
  WriterFixture fixture(options);
  const test::LogCapture log;
  put(fixture, point("m", 1, "\"x\""));
  put(fixture, point("m", 2, "\"y\\n\""));
  EXPECT_THAT(log.text(), testing::HasSubstr("put: point refused: \""));
  EXPECT_EQ(std::ranges::count(log.text(), '\n'), 2);
  put(fixture, point("m", 3, "\"z\""));
  put(fixture, point("m", 4, "\"z\""));
  EXPECT_EQ(std::ranges::count(log.text(), '\n'), 3);
  EXPECT_THAT(log.text(), testing::HasSubstr("ingest.refused_log_lines_max"));
  fixture.clock.advance(1000);
  put(fixture, point("m", 5, "\"z\""));
  EXPECT_EQ(std::ranges::count(log.text(), '\n'), 4);
}

TEST(Writer, NamesAreCheckedInOpenTsdbsWords) {
  WriterFixture fixture;
  EXPECT_TRUE(fixture.writer.check_name("metric", "sys.cpu"));
  EXPECT_EQ(fixture.writer.check_name("metric", "").error().message,
            "Invalid metric: empty string");
  EXPECT_EQ(fixture.writer.check_name("tagk", "a b").error().message,
            "Invalid tagk (\"a b\"): illegal character:  ");
}

TEST(PutJsonBody, BadPointsCostOnlyThemselvesAndAreNamed) {
  WriterFixture fixture;
  const PutOutcome outcome =
      put(fixture, array({point("m", 1, "1"), point("m", 2, "\"x\""), "null", point("", 3, "1"),
                          point("m", 4, "4"), point("m!", 5, "5")}));
  EXPECT_EQ(outcome.success, 2U);
  EXPECT_EQ(outcome.failed, 4U);
  ASSERT_THAT(outcome.failures, SizeIs(4));
  EXPECT_EQ(outcome.failures[0].datapoint,
            R"({"metric":"m","timestamp":2,"value":"x","tags":{"host":"a"}})");
  EXPECT_EQ(outcome.failures[0].error, "Unable to parse value to a number");
  EXPECT_EQ(outcome.failures[1].datapoint, "null");
  EXPECT_EQ(outcome.failures[1].error, "Unexpected null datapoint encountered in set.");
  EXPECT_EQ(outcome.failures[2].error, "Metric name was empty");
  EXPECT_EQ(outcome.failures[3].error, "Invalid metric name (\"m!\"): illegal character: !");
  EXPECT_THAT(fixture.stored(), ElementsAre("m 1000 1 host=a", "m 4000 4 host=a"));
  EXPECT_EQ(fixture.metric("halite_ingest_points_total", {"protocol=http"}), 2);
  EXPECT_EQ(fixture.metric("halite_ingest_points_refused_total",
                           {"protocol=http", "reason=illegal_argument"}),
            3);
  EXPECT_EQ(fixture.writer.refused_samples()[0].point, point("m", 2, "\"x\""));
}

TEST(PutJsonBody, FailuresNeedNotBeSpelledOut) {
  WriterFixture fixture;
  const PutOutcome outcome =
      put(fixture, array({point("m", 1, "1"), point("m", 2, "\"x\"")}), {.failures = false});
  EXPECT_EQ(outcome.success, 1U);
  EXPECT_EQ(outcome.failed, 1U);
  EXPECT_THAT(outcome.failures, IsEmpty());
}

TEST(PutJsonBody, MalformedBodyStoresNothing) {
  WriterFixture fixture;
  for (const std::string& body :
       {std::string(), std::string("[]"), std::string("x"),
        array({point("m", 1, "1"), "{\"tags\":[]}"}), array({point("m", 1, "1"), "[]"}),
        array({point("m", 1, "1"), point("m", 2, "{}")}), point("m", 1, "1") + "!"}) {
    const auto outcome = run_task(fixture.writer.put_json(body));
    ASSERT_FALSE(outcome) << body;
    EXPECT_EQ(outcome.error().code, Errc::kInvalidArgument);
  }
  EXPECT_THAT(fixture.stored(), IsEmpty());
  EXPECT_THAT(fixture.store.interned(), IsEmpty());
  EXPECT_EQ(fixture.metric("halite_ingest_bodies_refused_total"), 7);
  EXPECT_EQ(put(fixture, point("m", 1, "1")).success, 1U);
}

TEST(PutJsonBody, KnownSeriesAreNotAskedForAgain) {
  WriterFixture fixture;
  put(fixture, array({point("m", 1, "1"), point("m", 2, "1"), point("m", 3, "1", "b")}));
  EXPECT_THAT(fixture.store.interned(), ElementsAre(2));
  put(fixture, array({point("m", 4, "1"), point("m", 5, "1.5", "b")}));
  EXPECT_THAT(fixture.store.interned(), ElementsAre(2));
  put(fixture, R"({"metric":"\u006d","timestamp":1,"value":1,"tags":{"host":"a"}})");
  EXPECT_THAT(fixture.store.interned(), ElementsAre(2, 1));
  put(fixture, R"({"metric":"m","timestamp":"1","value":1,"tags":{"host":"a"}})");
  EXPECT_THAT(fixture.store.interned(), ElementsAre(2, 1, 1));
  put(fixture, R"({"metric":"m","timestamp":"1","value":true,"tags":{"host":"a"}})");
  EXPECT_THAT(fixture.store.interned(), ElementsAre(2, 1, 1));
  EXPECT_EQ(fixture.metric("halite_ingest_series_cache_lookups_total", {"result=hit"}), 2);
}

TEST(PutJsonBody, UnknownMetricsAreTold) {
  IngestOptions options;
  options.create.metrics = false;
  WriterFixture fixture(options);
  fixture.store.known_metrics = {"m"};
  const PutOutcome outcome = put(fixture, array({point("x", 1, "1"), point("m", 2, "\"y\""),
                                                 point("m", 3, "1"), point("x", 4, "1")}));
  EXPECT_EQ(outcome.success, 1U);
  ASSERT_THAT(outcome.failures, SizeIs(3));
  EXPECT_EQ(outcome.failures[0].error, "Unknown metric");
  EXPECT_EQ(outcome.failures[0].datapoint,
            R"({"metric":"x","timestamp":1,"value":"1","tags":{"host":"a"}})");
  EXPECT_EQ(outcome.failures[1].error, "Unable to parse value to a number");
  EXPECT_EQ(outcome.failures[2].error, "Unknown metric");
}

TEST(PutJsonBody, StoreMayRefuseSinglePoints) {
  WriterFixture fixture;
  const std::string body = array({point("m", 1, "1"), point("m", 2, "2"), point("m", 3, "3"),
                                  point("m", 4, "4"), point("m", 5, "5")});
  put(fixture, body);  // now the series is known: also such points are named
  fixture.store.refuse = [](const auto& refused) -> std::optional<Error> {
    if (refused.time == 2000) return error_of(Errc::kInvalidArgument, "too old");
    if (refused.time == 3000) return error_of(Errc::kUnavailable, "gone");
    if (refused.time == 4000) return error_of(Errc::kOverloaded, "full");
    if (refused.time == 5000) return error_of(Errc::kTimeout, "late");
    return std::nullopt;
  };
  const PutOutcome outcome = put(fixture, body);
  EXPECT_EQ(outcome.success, 1U);
  EXPECT_EQ(outcome.failed, 4U);
  ASSERT_THAT(outcome.failures, SizeIs(4));
  EXPECT_EQ(outcome.failures[0].error, "too old");
  EXPECT_EQ(outcome.failures[0].datapoint,
            R"({"metric":"m","timestamp":2,"value":"2","tags":{"host":"a"}})");
  EXPECT_EQ(outcome.failures[1].error, "Storage exception: gone");
  EXPECT_EQ(outcome.failures[2].error, "Please throttle");
  EXPECT_EQ(outcome.failures[3].error, "Timeout exception");
  ASSERT_TRUE(outcome.retryable_error);
  EXPECT_EQ(outcome.retryable_error->code, Errc::kUnavailable);
  EXPECT_EQ(outcome.retryable_error->message, "gone");
}

TEST(PutJsonBody, PointsThatWillNeverBeTakenAreNotWorthSendingAgain) {
  WriterFixture fixture;
  fixture.store.refuse = [](const auto& refused) -> std::optional<Error> {
    if (refused.time == 1000) return error_of(Errc::kOverloaded, "no room for new series");
    return error_of(Errc::kInvalidArgument, "too old");
  };
  const PutOutcome outcome = put(fixture, array({point("m", 1, "1"), point("m", 2, "2")}));
  EXPECT_EQ(outcome.failed, 2U);
  EXPECT_FALSE(outcome.retryable_error);
}

std::vector<std::string> errors_of(const PutOutcome& outcome) {
  std::vector<std::string> errors;
  for (const PutFailure& failure : outcome.failures) errors.push_back(failure.error);
  return errors;
}

// Each point is counted once: as one that the store did not take, or by what is wrong with itself.
TEST(PutJsonBody, StoreThatTakesNothingFailsEveryPoint) {
  for (const bool interning : {true, false}) {
    IngestOptions options;
    options.create.metrics = false;
    WriterFixture fixture(options);
    fixture.store.known_metrics = {"m"};
    const Error error = error_of(Errc::kTimeout, "late");
    (interning ? fixture.store.intern_fails : fixture.store.append_fails) = error;
    const PutOutcome outcome =
        put(fixture, array({point("m", 1, "1"), point("m", 2, "\"x\""), point("x", 3, "1")}));
    EXPECT_EQ(outcome.success, 0U);
    EXPECT_EQ(outcome.failed, 3U);
    EXPECT_THAT(errors_of(outcome),
                ElementsAre("Timeout exception", "Unable to parse value to a number",
                            interning ? "Timeout exception" : "Unknown metric"));
    EXPECT_EQ(outcome.failures[0].datapoint,
              R"({"metric":"m","timestamp":1,"value":"1","tags":{"host":"a"}})");
    ASSERT_TRUE(outcome.retryable_error);
    EXPECT_EQ(outcome.retryable_error->code, Errc::kUnavailable) << "the sender was in time";
    EXPECT_EQ(outcome.retryable_error->message, "late");
    EXPECT_THAT(fixture.stored(), IsEmpty());
    const auto refused = [&fixture](std::string_view reason) {
      return fixture.metric("halite_ingest_points_refused_total", {"protocol=http", reason});
    };
    EXPECT_EQ(refused("reason=timeout") + refused("reason=unknown_name"), 2);
    EXPECT_EQ(refused("reason=invalid_value"), 1);
    EXPECT_EQ(fixture.metric("halite_ingest_points_total", {"protocol=http"}), 0);
    EXPECT_EQ(fixture.metric("halite_ingest_bodies_refused_total"), 0);
  }
}

// What one store refuses after all, and another cannot make durable, is told apart.
TEST(PutJsonBody, PointsThatMayBeStoredAreToldAndCounted) {
  WriterFixture fixture;
  fixture.store.refuse = [](const auto& refused) -> std::optional<Error> {
    if (refused.time == 2000) return error_of(Errc::kInvalidArgument, "too old");
    return std::nullopt;
  };
  fixture.store.durable = Completion();
  fixture.store.durable.finish(fail(Errc::kTimeout, "the sync failed"));
  const std::string body = array({point("m", 1, "1"), point("m", 2, "2"), point("m", 3, "3")});
  const PutOutcome outcome = put(fixture, body);
  EXPECT_EQ(outcome.success, 0U);
  EXPECT_EQ(outcome.failed, 3U);
  EXPECT_THAT(
      errors_of(outcome),
      ElementsAre("Storage exception: the sync failed; it may be stored or not: send it again",
                  "too old",
                  "Storage exception: the sync failed; it may be stored or not: send it again"));
  ASSERT_TRUE(outcome.retryable_error);
  EXPECT_EQ(outcome.retryable_error->code, Errc::kUnavailable);
  EXPECT_EQ(outcome.retryable_error->message, "the sync failed");
  EXPECT_EQ(outcome.retryable_error->details, "2 points may be stored or not: send them again");
  EXPECT_EQ(fixture.metric("halite_ingest_points_total", {"protocol=http"}), 2);
  EXPECT_EQ(fixture.metric("halite_ingest_points_unknown_total", {"protocol=http"}), 2);
  EXPECT_EQ(put(fixture, body, {.failures = false}).failed, 3U);

  // Whatever the code: an agent drops what is refused for good.
  fixture.store.durable = Completion();
  fixture.store.durable.finish(fail(Errc::kInvalidArgument, "words"));
  EXPECT_EQ(put(fixture, body).retryable_error->code, Errc::kUnavailable);

  fixture.store.durable = Completion::done();
  EXPECT_EQ(put(fixture, body).success, 2U);
  EXPECT_EQ(fixture.metric("halite_ingest_points_unknown_total", {"protocol=http"}), 6);
}

TEST(PutJsonBody, WaitsForTheDiskAsLongAsIsWished) {
  WriterFixture fixture;
  fixture.store.durable = Completion();
  const PutOutcome late = put(fixture, point("m", 1, "1"), {.sync_timeout_ms = 1});
  EXPECT_EQ(late.success, 0U);
  EXPECT_EQ(late.timeouts, 1U);
  EXPECT_EQ(late.failed, 0U);
  EXPECT_THAT(late.failures, IsEmpty());
  EXPECT_FALSE(late.retryable_error);
  EXPECT_EQ(fixture.metric("halite_ingest_points_unknown_total", {"protocol=http"}), 1);

  const std::jthread disk([&fixture] {
    while (fixture.store.appends() < 2) std::this_thread::yield();
    fixture.store.durable.finish({});
  });
  EXPECT_EQ(put(fixture, point("m", 2, "1")).success, 1U);
}

TEST(PutJsonBody, BodyWithoutGoodPointsAsksNothingOfTheStore) {
  WriterFixture fixture;
  const PutOutcome outcome = put(fixture, "[null]");
  EXPECT_EQ(outcome.failed, 1U);
  EXPECT_EQ(fixture.store.appends(), 0U);
}

TEST(PutJsonBody, ManyBodiesAtOnce) {
  WriterFixture fixture;
  std::vector<Task<PutOutcome>> tasks;
  for (int body = 0; body < 40; ++body) {
    std::vector<std::string> points;
    for (int i = 0; i < 100; ++i) {
      points.push_back(point("m", 1 + i, std::to_string(body), "h" + std::to_string(i % 7)));
    }
    tasks.push_back(fixture.writer.put_json(array(points)));
  }
  for (const auto& outcome : test::run_tasks(std::move(tasks), 4)) {
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->success, 100U);
  }
  EXPECT_THAT(fixture.stored(), SizeIs(4000));
}

TEST(OwnPoints, AreStoredAndRemembered) {
  WriterFixture fixture;
  const auto round = [&](TimestampMs time) {
    std::vector<Writer::SelfPoint> points;
    points.push_back({.series = {.metric = "halite.up", .tags = {{"host", "h"}}},
                      .time = time,
                      .value = integer_bits(1),
                      .flags = kMillis});
    points.push_back({.series = {.metric = "halite.load", .tags = {{"host", "h"}}},
                      .time = time,
                      .value = double_bits(0.5),
                      .flags = kMillis | kFloat});
    return run_task(fixture.writer.put_self_metrics(std::move(points)));
  };
  ASSERT_TRUE(round(5000));
  ASSERT_TRUE(round(6000));
  EXPECT_THAT(fixture.stored(),
              ElementsAre("halite.up 5000 1 host=h", "halite.load 5000 0.5 host=h",
                          "halite.up 6000 1 host=h", "halite.load 6000 0.5 host=h"));
  EXPECT_THAT(fixture.store.interned(), ElementsAre(2));
  EXPECT_EQ(fixture.metric("halite_ingest_points_total", {"protocol=own"}), 4);

  fixture.store.durable = Completion();
  fixture.store.durable.finish(fail(Errc::kUnavailable, "the sync failed"));
  EXPECT_FALSE(round(7000));
  EXPECT_EQ(fixture.metric("halite_ingest_points_unknown_total", {"protocol=own"}), 2);
  fixture.store.append_fails = error_of(Errc::kUnavailable, "gone");
  EXPECT_FALSE(round(8000));
  EXPECT_EQ(fixture.metric("halite_ingest_points_unknown_total", {"protocol=own"}), 2);
  EXPECT_EQ(
      fixture.metric("halite_ingest_points_refused_total", {"protocol=own", "reason=storage"}), 2);
}

}  // namespace
}  // namespace halite::ingest
