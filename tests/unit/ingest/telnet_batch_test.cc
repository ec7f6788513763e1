#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/writer.h"
#include "tests/unit/ingest/writer_fixture.h"

namespace halite::ingest {
namespace {

using test::run_task;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Session : WriterFixture {
  explicit Session(IngestOptions options = {}) : WriterFixture(std::move(options)), batch(writer) {}

  Result<TelnetBatch::Flushed> flush() { return run_task(batch.flush(replies)); }

  // Adds all lines, then flushes; the answer to all of them.
  std::string put(const std::vector<std::string>& lines) {
    replies.clear();
    for (const std::string& line : lines) batch.add(line, replies);
    EXPECT_TRUE(flush());
    return std::exchange(replies, {});
  }

  TelnetBatch batch;
  std::string replies;
};

TEST(TelnetBatch, PointsReachTheStoreInOrder) {
  Session session;
  EXPECT_EQ(session.put({"put m 1 1 host=a", "put n 2 2.5 host=a", "put m 1 3 host=a",
                         "put m 1.5 4 host=a", "put m 1 +5 host=a", "put m 1 6 host=a"}),
            "");
  EXPECT_THAT(session.stored(),
              ElementsAre("m 1000 1 host=a", "n 2000 2.5 host=a", "m 1000 3 host=a",
                          "m 15000 4 host=a", "m 1000 5 host=a", "m 1000 6 host=a"));
}

TEST(TelnetBatch, NothingIsStoredBeforeTheFlush) {
  Session session;
  session.batch.add("put m 1 1 host=a", session.replies);
  EXPECT_EQ(session.batch.points(), 1U);
  EXPECT_THAT(session.stored(), IsEmpty());
  ASSERT_TRUE(session.flush());
  EXPECT_EQ(session.batch.points(), 0U);
  EXPECT_THAT(session.stored(), SizeIs(1));
}

TEST(TelnetBatch, EmptyFlushAsksNothingOfTheStore) {
  Session session;
  const auto flushed = session.flush();
  ASSERT_TRUE(flushed);
  EXPECT_EQ(flushed->points, 0U);
  EXPECT_TRUE(flushed->durable.finished());
  EXPECT_EQ(session.store.appends(), 0U);
}

TEST(TelnetBatch, DurableIsTheStores) {
  Session session;
  session.store.durable = Completion();
  session.batch.add("put m 1 1 host=a", session.replies);
  const auto flushed = session.flush();
  ASSERT_TRUE(flushed);
  EXPECT_EQ(flushed->points, 1U);
  EXPECT_FALSE(flushed->durable.finished());
  session.store.durable.finish({});
  EXPECT_TRUE(run_task(session.batch.await_durable(*flushed, session.replies)));
  EXPECT_EQ(session.replies, "");
}

TEST(TelnetBatch, PointsThatMayBeStoredAreToldAndCounted) {
  for (const bool told : {true, false}) {
    IngestOptions options;
    options.telnet_storage_errors = told;
    Session session(options);
    session.store.durable = Completion();
    session.store.durable.finish(fail(Errc::kTimeout, "the sync failed"));
    session.batch.add("put m 1 1 host=a", session.replies);
    session.batch.add("put m 2 1 host=a", session.replies);
    const auto flushed = session.flush();
    ASSERT_TRUE(flushed);
    EXPECT_FALSE(flushed->retryable_error) << "the outcome is not known yet";
    EXPECT_FALSE(run_task(session.batch.await_durable(*flushed, session.replies)));
    EXPECT_EQ(session.replies,
              told ? "put: storage error: 2 points may not be stored: the sync failed\n" : "");
    EXPECT_EQ(session.metric("halite_ingest_points_total", {"protocol=telnet"}), 2);
    EXPECT_EQ(session.metric("halite_ingest_points_unknown_total", {"protocol=telnet"}), 2);
  }
}

// And each is told what is wrong with it: none is counted twice.
TEST(TelnetBatch, NamesThatMayNotBeMadeAreToldAlsoWhereTheStoreTakesNothing) {
  IngestOptions options;
  options.create.metrics = false;
  Session session(options);
  session.store.known_metrics = {"m"};
  session.store.append_fails = error_of(Errc::kUnavailable, "gone");
  EXPECT_EQ(session.put({"put x 1 1 host=a", "put m 1 1 host=a"}),
            "put: unknown metric: No such name for 'metrics': 'x'\n"
            "put: storage error: 1 points not stored: gone\n");
  EXPECT_EQ(
      session.metric("halite_ingest_points_refused_total", {"protocol=telnet", "reason=storage"}),
      1);
}

TEST(TelnetBatch, KnownSeriesAreNotAskedForAgain) {
  Session session;
  session.put({"put m 1 1 host=a", "put m 2 1 host=a", "put m 3 1 host=b"});
  EXPECT_THAT(session.store.interned(), ElementsAre(2));
  session.put({"put m 4 1 host=a", "put m 5 1.5 host=b"});
  EXPECT_THAT(session.store.interned(), ElementsAre(2));
  session.put({"put m 6 1  host=a"});  // the same series, other bytes
  EXPECT_THAT(session.store.interned(), ElementsAre(2, 1));
  EXPECT_THAT(session.stored(), SizeIs(6));
  EXPECT_EQ(session.metric("halite_ingest_series_cache_lookups_total", {"result=hit"}), 2);
  EXPECT_EQ(session.metric("halite_ingest_series_cache_lookups_total", {"result=miss"}), 4);
  EXPECT_EQ(session.metric("halite_ingest_series_cache_keys"), 3);
}

TEST(TelnetBatch, OddLinesAreRememberedByTheirNames) {
  Session session;
  session.put({"put m 1.000 1 host=a dc=b", "put m 2.000 +1 dc=b  host=a"});
  EXPECT_THAT(session.store.interned(), ElementsAre(1));
  session.put({"put m 3.000 1 host=a dc=b"});
  EXPECT_THAT(session.store.interned(), ElementsAre(1));
}

TEST(TelnetBatch, WorksWithoutACache) {
  IngestOptions options;
  options.limits.series_cache_bytes_max = 0;
  Session session(options);
  session.put({"put m 1 1 host=a"});
  session.put({"put m 2 1 host=a"});
  EXPECT_THAT(session.stored(), SizeIs(2));
  EXPECT_THAT(session.store.interned(), ElementsAre(1, 1));
}

TEST(TelnetBatch, BadLinesCostOnlyThemselves) {
  Session session;
  EXPECT_EQ(session.put({"put m 1 1 host=a", "put m x 1 host=a", "put m 2 2 host=a", "put",
                         "put m 3 3 host", "put m 4 4 host=a"}),
            "put: invalid value: Invalid character 'x' in x\n"
            "put: illegal argument: not enough arguments (need least 4, got 0)\n"
            "put: illegal argument: invalid tag: host\n");
  EXPECT_THAT(session.stored(),
              ElementsAre("m 1000 1 host=a", "m 2000 2 host=a", "m 4000 4 host=a"));
}

TEST(TelnetBatch, AnswersComeInTheOrderOfTheLines) {
  IngestOptions options;
  options.create.metrics = false;
  Session session(options);
  session.store.known_metrics = {"m"};
  EXPECT_EQ(session.put({"put x 1 1 host=a", "put m bad 1 host=a", "put y 1 1 host=a",
                         "put m 1 1 host", "put x 2 1 host=a", "put m 1 1 host=a"}),
            "put: unknown metric: No such name for 'metrics': 'x'\n"
            "put: invalid value: Invalid character 'b' in bad\n"
            "put: unknown metric: No such name for 'metrics': 'y'\n"
            "put: illegal argument: invalid tag: host\n"
            "put: unknown metric: No such name for 'metrics': 'x'\n");
  EXPECT_THAT(session.stored(), ElementsAre("m 1000 1 host=a"));
}

TEST(TelnetBatch, UnknownNameIsAskedForAgain) {
  IngestOptions options;
  options.create.metrics = false;
  Session session(options);
  EXPECT_THAT(session.put({"put x 1 1 host=a"}), HasSubstr("unknown metric"));
  session.store.known_metrics = {"x"};
  EXPECT_EQ(session.put({"put x 1 1 host=a"}), "");
  EXPECT_THAT(session.stored(), SizeIs(1));
}

TEST(TelnetBatch, StoreMayRefuseSinglePoints) {
  Session session;
  session.store.refuse = [](const auto& point) -> std::optional<Error> {
    if (point.time == 2000) return error_of(Errc::kInvalidArgument, "too old");
    if (point.time == 3000) return error_of(Errc::kUnavailable, "gone");
    if (point.time == 4000) return error_of(Errc::kOverloaded, "full");
    if (point.time == 5000) return error_of(Errc::kTimeout, "late");
    return std::nullopt;
  };
  const std::vector<std::string> lines = {"put m 1 1 host=a", "put m 2 1 host=a",
                                          "put m 3 1 host=a", "put m 4 1 host=a",
                                          "put m 5 1 host=a", "put m 6 1 host=a"};
  EXPECT_EQ(session.put(lines),
            "put: illegal argument: too old\n"
            "put: storage error: gone\n"
            "put: Please throttle writes: full\n"
            "put: Request timed out: late\n");
  EXPECT_THAT(session.stored(), ElementsAre("m 1000 1 host=a", "m 6000 1 host=a"));
  EXPECT_EQ(session.metric("halite_ingest_points_total", {"protocol=telnet"}), 2);
  EXPECT_EQ(
      session.metric("halite_ingest_points_refused_total", {"protocol=telnet", "reason=throttled"}),
      1);
}

// New names above all, which the store may fail to make while it takes points of known ones.
TEST(TelnetBatch, TellsThatTheStoreWasAwayForSinglePoints) {
  for (const Errc why : {Errc::kUnavailable, Errc::kInvalidArgument}) {
    Session session;
    session.store.refuse = [why](const auto& point) -> std::optional<Error> {
      if (point.time == 2000) return error_of(why, "no");
      return std::nullopt;
    };
    session.batch.add("put m 1 1 host=a", session.replies);
    session.batch.add("put m 2 1 host=a", session.replies);
    const auto flushed = session.flush();
    ASSERT_TRUE(flushed);
    EXPECT_EQ(flushed->retryable_error.has_value(), why == Errc::kUnavailable);
    if (flushed->retryable_error) EXPECT_EQ(flushed->retryable_error->code, Errc::kUnavailable);
    EXPECT_EQ(flushed->points, 1U) << "the other one is waited for all the same";
    EXPECT_THAT(session.stored(), ElementsAre("m 1000 1 host=a"));
  }
}

TEST(TelnetBatch, StorageErrorsMayBeKeptSilent) {
  IngestOptions options;
  options.telnet_storage_errors = false;
  Session session(options);
  session.store.refuse = [](const auto& point) -> std::optional<Error> {
    if (point.time == 1000) return error_of(Errc::kInvalidArgument, "too old");
    return error_of(Errc::kUnavailable, "gone");
  };
  EXPECT_EQ(session.put({"put m 1 1 host=a", "put m 2 1 host=a"}),
            "put: illegal argument: too old\n");
  session.store.append_fails = error_of(Errc::kUnavailable, "gone");
  EXPECT_EQ(session.put({"put m 1 1 host=a"}), "");
}

TEST(TelnetBatch, StoreThatTakesNothingIsSaidOnceAndTold) {
  for (const bool interning : {true, false}) {
    Session session;
    const Error error = error_of(Errc::kUnavailable, "no region server");
    (interning ? session.store.intern_fails : session.store.append_fails) = error;
    session.batch.add("put m 1 1 host=a", session.replies);
    session.batch.add("put m 2 x host=a", session.replies);
    session.batch.add("put m 3 1 host=a", session.replies);
    const auto flushed = session.flush();
    ASSERT_TRUE(flushed);
    EXPECT_EQ(session.replies,
              "put: invalid value: Invalid character 'x' in x\n"
              "put: storage error: 2 points not stored: no region server\n");
    ASSERT_TRUE(flushed->retryable_error);
    EXPECT_EQ(flushed->retryable_error->code, Errc::kUnavailable);
    EXPECT_EQ(flushed->points, 0U);
    EXPECT_EQ(session.batch.points(), 0U);
    EXPECT_EQ(
        session.metric("halite_ingest_points_refused_total", {"protocol=telnet", "reason=storage"}),
        2);
    // And goes on afterwards.
    session.store.intern_fails.reset();
    session.store.append_fails.reset();
    EXPECT_EQ(session.put({"put m 4 1 host=a"}), "");
    EXPECT_THAT(session.stored(), ElementsAre("m 4000 1 host=a"));
  }
}

TEST(TelnetBatch, IsFullAtItsPoints) {
  IngestOptions options;
  options.limits.telnet_batch_points_max = 100;
  Session session(options);
  for (int i = 1; i <= 99; ++i) {
    session.batch.add("put m " + std::to_string(i) + " 1 host=a", session.replies);
    ASSERT_EQ(session.batch.points(), static_cast<std::size_t>(i));
    ASSERT_FALSE(session.batch.full());
  }
  session.batch.add("put m 100 1 host=a", session.replies);
  EXPECT_TRUE(session.batch.full());
  // One more is taken all the same: the caller decides when to flush.
  session.batch.add("put m 101 1 host=a", session.replies);
  ASSERT_TRUE(session.flush());
  EXPECT_FALSE(session.batch.full());
  EXPECT_THAT(session.stored(), SizeIs(101));
}

TEST(TelnetBatch, IsFullAtItsBytesOfNewNames) {
  IngestOptions options;
  options.limits.telnet_batch_bytes_max = 64 << 10;
  Session session(options);
  int lines = 0;
  while (!session.batch.full()) {
    ASSERT_LT(lines, 200);
    session.batch.add("put m 1 1 host=" + std::string(900, 'x') + std::to_string(lines++),
                      session.replies);
  }
  EXPECT_GT(lines, 30);
  ASSERT_TRUE(session.flush());
  EXPECT_FALSE(session.batch.full());
  EXPECT_EQ(session.store.points().size(), static_cast<std::size_t>(lines));
}

TEST(TelnetBatch, LongLinesAreTakenBesideShortOnes) {
  IngestOptions options;
  options.limits.name_bytes_max = 100'000;
  Session session(options);
  std::vector<std::string> lines;
  for (const std::size_t length : {1U, 5000U, 16'384U, 20'000U, 3U, 90'000U, 2U, 9000U, 9000U}) {
    lines.push_back("put m 1 1 host=" + std::string(length, 'x'));
  }
  for (int round = 0; round < 2; ++round) EXPECT_EQ(session.put(lines), "");
  const auto stored = session.store.points();
  ASSERT_EQ(stored.size(), 2 * lines.size());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    EXPECT_EQ("put m 1 1 host=" + stored[i].series.tags[0].value, lines[i % lines.size()]);
  }
}

TEST(TelnetBatch, LineNeedNotOutliveItsCall) {
  Session session;
  std::string line;
  for (int i = 1; i <= 50; ++i) {
    line = "put m " + std::to_string(i) + " 1 host=h" + std::to_string(i % 3);
    session.batch.add(line, session.replies);
    line.assign(line.size(), '?');
  }
  ASSERT_TRUE(session.flush());
  EXPECT_EQ(session.stored()[49], "m 50000 1 host=h2");
  EXPECT_EQ(session.replies, "");
}

TEST(TelnetBatch, RefusedLinesAreCountedAndSampled) {
  IngestOptions options;
  options.limits.refused_samples_max = 2;
  options.limits.refused_sample_bytes_max = 20;
  Session session(options);
  session.put({"put m x 1 host=a", "put m 1 y host=a", "put m 1 1 host=a!bcdefghijklmnopqrstuvwxyz",
               "put m 1 1 host=a"});
  EXPECT_EQ(session.metric("halite_ingest_points_refused_total",
                           {"protocol=telnet", "reason=invalid_value"}),
            2);
  EXPECT_EQ(session.metric("halite_ingest_points_refused_total",
                           {"protocol=telnet", "reason=illegal_argument"}),
            1);
  const auto samples = session.writer.refused_samples();
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_EQ(samples[0].point, "put m 1 y host=a");
  EXPECT_EQ(samples[0].reason, RefusalReason::kInvalidValue);
  EXPECT_EQ(samples[0].error, "Invalid character 'y...");
  EXPECT_EQ(samples[0].time, 1'500'000'000'000);
  EXPECT_EQ(samples[1].point, "put m 1 1 host=a!bcd...");
}

TEST(TelnetBatch, ARefusedLineIsSampledAsItWasSent) {
  const std::string long_tag =
      "host=" + std::string(20'000, 'a') + "!";  // longer than a group's room
  for (const std::string& line :
       {std::string("put m 1500000000 1.50 host=a!"),
        std::string("put m 1500000000123 -7e2  host=a!"), std::string("put m! 1 0001 host=a  dc=b"),
        "put m 1 2 " + long_tag}) {
    IngestOptions options;
    options.limits.refused_sample_bytes_max = 30'000;
    Session session(options);
    session.put({"put m 1 1 host=a", line, "put m 2 1 host=a"});
    const auto samples = session.writer.refused_samples();
    ASSERT_THAT(samples, SizeIs(1)) << line;
    EXPECT_EQ(samples[0].point, line);
  }
}

TEST(TelnetBatch, TwoBatchesShareTheCache) {
  Session session;
  TelnetBatch other(session.writer);
  session.put({"put m 1 1 host=a"});
  other.add("put m 2 1 host=a", session.replies);
  ASSERT_TRUE(run_task(other.flush(session.replies)));
  EXPECT_THAT(session.store.interned(), ElementsAre(1));
  EXPECT_THAT(session.stored(), SizeIs(2));
}

}  // namespace
}  // namespace halite::ingest
