#include "storage/cells/counters/counter_store.h"

#include <chrono>
#include <future>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/units.h"
#include "tests/support/run_task.h"
#include "tests/unit/storage/cells/counter_world.h"

namespace halite::storage {
namespace {

using test::kCountersNow;
using test::run_task;
using test::Sums;
using testing::ElementsAre;
using testing::IsEmpty;

class CounterStoreTest : public testing::Test, protected test::CounterWorld {};

TEST_F(CounterStoreTest, OneIncrementAddsToEachBucket) {
  const SeriesId hits = counter("web.hits", "a");
  PointBatch batch = one(hits, kCountersNow - 1, 5);
  batch.add(hits, kCountersNow, 7, 0);
  batch.add(hits, kCountersNow + kHourMs - 1, static_cast<ValueBits>(-2), 0);
  EXPECT_THAT(add(std::move(batch)), IsEmpty());
  EXPECT_EQ(sums("web.hits", 0),
            (Sums{{{"a", kCountersNow - kHourMs}, 5}, {{"a", kCountersNow}, 5}}));
  EXPECT_EQ(sums("web.hits", 1),
            (Sums{{{"a", kCountersNow - kDayMs}, 5}, {{"a", kCountersNow}, 5}}));
  EXPECT_EQ(sums("web.hits", 2), (Sums{{{"a", kCountersNow}, 10}}));
}

TEST_F(CounterStoreTest, WithoutARuleMinutesAreSummed) {
  const SeriesId likes = counter("likes", "a");
  EXPECT_THAT(add(one(likes, kCountersNow + 59'999, 1)), IsEmpty());
  EXPECT_THAT(add(one(likes, kCountersNow, 1)), IsEmpty());
  EXPECT_THAT(add(one(likes, kCountersNow + 60'000, 1)), IsEmpty());
  EXPECT_EQ(sums("likes", 0), (Sums{{{"a", kCountersNow}, 2}, {{"a", kCountersNow + 60'000}, 1}}));
  cut_power();
  EXPECT_EQ(sums("likes", 0), (Sums{{{"a", kCountersNow}, 2}, {{"a", kCountersNow + 60'000}, 1}}));
}

TEST_F(CounterStoreTest, NewRulesApplyToTheNextIncrement) {
  const SeriesId likes = counter("likes", "a");
  const SeriesId hits = counter("web.hits", "a");
  EXPECT_THAT(add(one(likes, kCountersNow, 1)), IsEmpty());
  EXPECT_THAT(add(one(hits, kCountersNow, 1)), IsEmpty());
  const auto set_rules = [this](std::string_view rules) {
    return run_task(counters_->set_rules(CounterRules::parse(rules, 7 * kDayMs).value()));
  };
  ASSERT_TRUE(set_rules(R"([{"metrics":"likes","buckets":["2h"],"keep":["0"]}])"));
  EXPECT_THAT(add(one(likes, kCountersNow, 2)), IsEmpty());
  EXPECT_THAT(add(one(hits, kCountersNow, 4)), IsEmpty());
  EXPECT_EQ(sums("likes", 0), (Sums{{{"a", kCountersNow}, 2}}));
  EXPECT_EQ(sums("web.hits", 0), (Sums{{{"a", kCountersNow}, 4}}));
  EXPECT_EQ(counters_->rule_of("likes")->buckets.front().name, "2h");
  EXPECT_EQ(counters_->rule_of("web.hits")->buckets.front().name, "1m");
  ASSERT_TRUE(set_rules(""));
  EXPECT_EQ(sums("likes", 0), (Sums{{{"a", kCountersNow}, 1}}));
  EXPECT_TRUE(intern("web.new", "a", counters_->points())) << "no rule reserves it";
}

TEST_F(CounterStoreTest, TimesFarAheadOfTheClockAreRefused) {
  const SeriesId likes = counter("likes", "a");
  constexpr TimestampMs kLast = kCountersNow + 3650 * kDayMs;
  EXPECT_THAT(add(one(likes, kLast, 1)), IsEmpty());
  EXPECT_THAT(add(one(likes, kLast + 1, 1)),
              ElementsAre(testing::HasSubstr("more than 3650d ahead of the server's clock")));
}

TEST_F(CounterStoreTest, AMetricHasPointsOrCounters) {
  ASSERT_TRUE(intern("cpu", "a", counters_->points()));
  EXPECT_EQ(intern("cpu", "b", *counters_).error().message,
            "the metric \"cpu\" has points, so it cannot be a counter; use another name");
  counter("likes", "a");
  const std::string refused = "is a counter: send increments (incr, /api/incr)";
  EXPECT_THAT(intern("likes", "b", counters_->points()).error().message,
              testing::HasSubstr(refused));
  EXPECT_THAT(intern("web.x", "b", counters_->points()).error().message,
              testing::HasSubstr(refused));
  // The ids of the others come in their places.
  const auto some =
      run_task(counters_->points().intern({{"web.x", {{"h", "1"}}}, {"cpu", {{"host", "a"}}}}, {}))
          .value();
  EXPECT_FALSE(some[0]);
  EXPECT_EQ(some[1].value(), intern("cpu", "a", counters_->points()).value());
  const auto mixed =
      run_task(counters_->intern({{"cpu", {{"h", "1"}}}, {"likes", {{"host", "a"}}}}, {})).value();
  EXPECT_FALSE(mixed[0]);
  EXPECT_EQ(mixed[1].value(), counter("likes", "a"));
}

TEST_F(CounterStoreTest, ANewMetricIsTakenOnce) {
  for (int i = 0; i < 200; ++i) {
    const std::string metric = "m" + std::to_string(i);
    bool counted = false;
    std::thread counting([&] { counted = intern(metric, "a", *counters_).has_value(); });
    const bool stored = intern(metric, "a", counters_->points()).has_value();
    counting.join();
    EXPECT_NE(counted, stored) << metric;
  }
}

// The metric has a UID already, but nothing says yet that it is a counter.
TEST_F(CounterStoreTest, PointsWaitForAnIncrementThatTakesTheirMetric) {
  std::future<Result<SeriesId>> points;
  points_->registry().uids().watch({.assigned =
                                        [&](NameKind kind, const auto& /*name*/) {
                                          if (kind != NameKind::kMetric || points.valid()) return;
                                          points = std::async(std::launch::async, [this] {
                                            return intern("m", "b", counters_->points());
                                          });
                                          // As long as they do not wait, they are fast enough to be
                                          // stored.
                                          points.wait_for(std::chrono::milliseconds(200));
                                        },
                                    .renamed = {}});
  ASSERT_TRUE(intern("m", "a", *counters_));
  ASSERT_TRUE(points.valid());
  EXPECT_FALSE(points.get());
}

TEST_F(CounterStoreTest, ProcessesLearnFromEachOtherWhatIsCounted) {
  RowScanOptions shared;
  shared.shared_tables = true;
  const auto other = open_counters(shared);
  counter("likes", "a");
  counter("web.hits", "a");
  // An increment does not wait for the next refresh.
  EXPECT_TRUE(intern("likes", "b", *other));
  EXPECT_TRUE(intern("web.hits", "b", *other));
  counter("more", "a");
  EXPECT_FALSE(other->is_stale());
  clock_.advance(5'000);
  EXPECT_TRUE(other->is_stale());
  EXPECT_FALSE(counters_->is_stale());
  EXPECT_FALSE(intern("more", "b", other->points()));
  EXPECT_NE(other->rule_of("more"), nullptr);
  EXPECT_FALSE(other->is_stale());
  EXPECT_TRUE(run_task(other->close()));
}

TEST_F(CounterStoreTest, ARuleLeavesMetricsThatHavePoints) {
  SeriesName name{"web.old", {{"host", "a"}}};
  ASSERT_TRUE(run_task(points_->intern({name}, {})).value().front());  // before there was a rule
  EXPECT_EQ(counters_->rule_of("web.old"), nullptr);
  EXPECT_TRUE(intern("web.old", "b", counters_->points()));
  EXPECT_FALSE(intern("web.old", "a", *counters_));
}

// At no change of the disk does a power cut leave a series that is taken for one of points.
TEST_F(CounterStoreTest, APowerCutDoesNotMakeAMetricOneOfPoints) {
  for (std::uint64_t change = 0;; ++change) {
    const std::string metric = fmt::format("likes{}", change);
    files_->cut_power_after(change);
    const bool done = intern(metric, "a", *counters_).has_value();
    cut_power();
    ASSERT_THAT(add(one(counter(metric, "a"), kCountersNow, 1)), IsEmpty()) << change;
    if (done) break;
  }
}

TEST_F(CounterStoreTest, BadIncrementsCostOnlyThemselves) {
  const SeriesId hits = counter("web.hits", "a");
  PointBatch batch = one(hits, kCountersNow, INT64_MAX);
  batch.add(hits, kCountersNow, std::bit_cast<ValueBits>(1.5), kFloat);
  batch.add(hits, -1, 1, 0);
  batch.add(hits, TimestampMs{1} << 50, 1, 0);
  EXPECT_THAT(add(std::move(batch)),
              ElementsAre("1: an increment must be a whole number of at most 64 bits",
                          "2: the time -1 ms is outside the range of row keys",
                          "3: timestamp 1125899906842624 is more than 3650d ahead of the server's "
                          "clock (storage.forecast_max_ms)"));
  EXPECT_THAT(add(one(hits, kCountersNow, 1)), ElementsAre("0: the sum would not fit in 64 bits"));
  EXPECT_EQ(sums("web.hits", 0), (Sums{{{"a", kCountersNow}, INT64_MAX}}));
  PointBatch twice = one(hits, kCountersNow - kDayMs, INT64_MIN);
  twice.add(hits, kCountersNow - kDayMs, static_cast<ValueBits>(-1), 0);
  EXPECT_THAT(add(std::move(twice), "key"),
              ElementsAre("1: the sum of the request's increments would not fit in 64 bits"));
}

TEST_F(CounterStoreTest, BucketsThatAreNoLongerKeptAreSkipped) {
  const SeriesId hits = counter("web.hits", "a");
  EXPECT_THAT(add(one(hits, kCountersNow - 20 * kDayMs, 5)), IsEmpty());
  EXPECT_THAT(sums("web.hits", 0), IsEmpty());
  EXPECT_EQ(sums("web.hits", 1), (Sums{{{"a", kCountersNow - 20 * kDayMs}, 5}}));
  const SeriesId likes = counter("likes", "a");
  EXPECT_THAT(add(one(likes, kCountersNow - 8 * kDayMs, 5)),
              ElementsAre(fmt::format("0: no bucket of the time {} ms is kept any longer",
                                      kCountersNow - 8 * kDayMs)));
  EXPECT_THAT(add(one(likes, kCountersNow - 6 * kDayMs, 5)), IsEmpty());
  EXPECT_EQ(sums("likes", 0).size(), 1);
  clock_.advance(2 * kDayMs);
  EXPECT_THAT(sums("likes", 0), IsEmpty());
}

TEST_F(CounterStoreTest, ARepeatedRequestAddsNothing) {
  const auto request = [&] {
    const SeriesId hits = counter("web.hits", "a");  // ids end with the process
    PointBatch batch = one(hits, kCountersNow, 5);
    batch.add(hits, kCountersNow - kHourMs, 7, 0);  // in the same row
    batch.add(hits, kCountersNow, 1, 0);
    return batch;
  };
  const Sums once = {{{"a", kCountersNow - kHourMs}, 7}, {{"a", kCountersNow}, 6}};
  EXPECT_THAT(add(request(), "key"), IsEmpty());
  EXPECT_THAT(add(request(), "key"), IsEmpty());
  EXPECT_EQ(sums("web.hits", 0), once);
  cut_power();
  EXPECT_THAT(add(request(), "key"), IsEmpty());
  EXPECT_EQ(sums("web.hits", 0), once);
  clock_.advance(10 * 60'000);
  EXPECT_THAT(add(request(), "key"), IsEmpty());
  EXPECT_EQ(sums("web.hits", 2), (Sums{{{"a", kCountersNow}, 26}}));
}

TEST_F(CounterStoreTest, IncrementsOfManyThreadsAreAllAdded) {
  const SeriesId hits = counter("web.hits", "a");
  constexpr int kThreads = 8;
  constexpr int kBatches = 200;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      std::vector<Completion> all;
      for (int n = 0; n < kBatches; ++n) {
        PointBatch batch = one(hits, kCountersNow, 1);
        batch.add(hits, kCountersNow, 2, 0);
        const auto accepted = run_task(counters_->append(std::move(batch)));
        ASSERT_TRUE(accepted);
        all.push_back(accepted->durable);
      }
      counters_->request_sync();
      for (const Completion& one : all) EXPECT_TRUE(run_task(one.wait()));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums("web.hits", 0),
            (Sums{{{"a", kCountersNow}, std::int64_t{3} * kThreads * kBatches}}));
}

}  // namespace
}  // namespace halite::storage
