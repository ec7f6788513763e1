#include "storage/cells/counters/counter_store.h"

#include <map>
#include <random>
#include <set>

#include <boost/asio/thread_pool.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "common/units.h"
#include "storage/backends/rocks/rocks_store.h"
#include "storage/cells/cell_point_store.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "tests/support/faulty_files.h"
#include "tests/support/run_task.h"
#include "tests/support/temp_dir.h"

namespace halite::storage {
namespace {

using test::run_task;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr TimestampMs kCountersNow = 1'356'998'400'000 + 30 * kDayMs;
constexpr std::string_view kWebRules =
    R"([{"metrics":"web.*","buckets":["1h","1d","all"],"keep":["14d","400d","0"]}])";

// By host and beginning of the bucket.
using Sums = std::map<std::pair<std::string, TimestampMs>, std::int64_t>;

// Counters on a disk that forgets what was not synced.
class CounterStoreTest : public testing::Test {
 protected:
  CounterStoreTest() { open(); }
  ~CounterStoreTest() override {
    close();
    pool_.join();
  }

  void open() {
    RocksOptions options;
    options.files = files_;
    options.dir = dir_.path() + "/store";
    metrics_ = std::make_unique<prometheus::Registry>();
    cells_ = RocksStore::open(options, clock_, *metrics_).value();
    std::shared_ptr<const CyclicLayout> layout = CyclicLayout::make({}).value();
    points_ = run_task(CellPointStore::open({*cells_, layout, layout->parameters(), clock_,
                                             pool_.get_executor(), *metrics_},
                                            {}))
                  .value();
    counters_ = open_counters({});
  }
  std::unique_ptr<CounterStore> open_counters(const RowScanOptions& scan) {
    CounterStore::Dependencies dependencies{.store = *cells_,
                                            .points = *points_,
                                            .series = points_->registry(),
                                            .rows = OpentsdbLayout::make({}).value(),
                                            .scan = scan,
                                            .data_table = "tsdb",
                                            .settings_table = "halite-settings",
                                            .clock = clock_,
                                            .executor = pool_.get_executor(),
                                            .registry = *metrics_};
    return run_task(CounterStore::open(std::move(dependencies),
                                       CounterRules::parse(kWebRules, 7 * kDayMs).value(), {}))
        .value();
  }
  void close() {
    std::ignore = run_task(counters_->close());
    counters_.reset();
    std::ignore = run_task(points_->close());
    points_.reset();
    std::ignore = run_task(cells_->close());
    cells_.reset();
  }
  void cut_power() {
    files_->cut_power();
    close();
    files_->restore_power();
    open();
  }

  Result<SeriesId> intern(const std::string& metric, const std::string& host, PointSink& sink) {
    const auto ids = run_task(sink.intern({{metric, {{"host", host}}}}, {})).value();
    return ids.front();
  }
  SeriesId counter(const std::string& metric, const std::string& host) {
    return intern(metric, host, *counters_).value();
  }

  // Waits for the outcome; returns the refusals.
  std::vector<std::string> add(PointBatch batch, Bytes once = {}) {
    batch.settle = true;
    batch.once = std::move(once);
    const auto accepted = run_task(counters_->append(std::move(batch)));
    EXPECT_TRUE(accepted) << accepted.error().message;
    EXPECT_TRUE(accepted->durable.finished());
    std::vector<std::string> refused;
    for (const Refusal& one : accepted->refused) {
      refused.push_back(fmt::format("{}: {}", one.index, one.error.message));
    }
    return refused;
  }
  static PointBatch one(SeriesId id, TimestampMs time, std::int64_t delta) {
    PointBatch batch;
    batch.add(id, time, static_cast<ValueBits>(delta), 0);
    return batch;
  }

  Sums sums(const std::string& metric, std::size_t bucket) {
    const CounterRule* const rule = counters_->rule_of(metric);
    const auto source = counters_->source(rule->buckets.at(bucket), kCountersNow);
    SeriesQuery query;
    query.metric = metric;
    const auto selection = run_task(points_->select(std::move(query), {})).value();
    Sums found;
    for (std::uint32_t shard = 0; shard < source->shard_count(); ++shard) {
      const auto scan = source->scan(selection, {0, kCountersNow + 365 * kDayMs}, shard);
      while (true) {
        const std::vector<Block> blocks = run_task(scan->next()).value();
        if (blocks.empty()) break;
        for (const Block& block : blocks) {
          const std::string host(source->series(block.series).tags.front().value);
          for (std::size_t i = 0; i < block.size(); ++i) {
            EXPECT_FALSE(block.floats[i]);
            EXPECT_TRUE(
                found.try_emplace({host, block.times[i]}, as_integer(block.values[i])).second);
          }
        }
      }
    }
    return found;
  }

  FakeClock clock_{kCountersNow};
  test::TempDir dir_;
  std::shared_ptr<test::FaultyFiles> files_ = std::make_shared<test::FaultyFiles>(1);
  boost::asio::thread_pool pool_{2};
  std::unique_ptr<prometheus::Registry> metrics_;
  std::unique_ptr<RocksStore> cells_;
  std::unique_ptr<CellPointStore> points_;
  std::unique_ptr<CounterStore> counters_;
};

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

TEST_F(CounterStoreTest, BadIncrementsCostOnlyThemselves) {
  const SeriesId hits = counter("web.hits", "a");
  PointBatch batch = one(hits, kCountersNow, INT64_MAX);
  batch.add(hits, kCountersNow, std::bit_cast<ValueBits>(1.5), kFloat);
  batch.add(hits, -1, 1, 0);
  batch.add(hits, TimestampMs{1} << 50, 1, 0);
  EXPECT_THAT(add(std::move(batch)),
              ElementsAre("1: an increment must be a whole number of at most 64 bits",
                          "2: the time -1 ms is outside the range of row keys",
                          "3: the time 1125899906842624 ms is outside the range of row keys"));
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

// Random increments, some with keys and some of those repeated, and power cuts between them,
// against plain maps.
TEST_F(CounterStoreTest, RandomIncrementsAndPowerCutsGiveTheSumsOfAMap) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(random() % n); };
  struct Increment {
    std::string metric;
    std::string host;
    TimestampMs time;
    std::int64_t delta;
  };
  std::map<std::pair<std::string, std::size_t>, Sums> model;
  std::vector<std::pair<Bytes, std::vector<Increment>>> keyed;
  for (int step = 0; step < 400; ++step) {
    std::vector<Increment> increments;
    Bytes key;
    bool repeated = false;
    if (!keyed.empty() && below(6) == 0) {
      std::tie(key, increments) =
          keyed[static_cast<std::size_t>(below(static_cast<std::uint32_t>(keyed.size())))];
      repeated = true;
    } else {
      for (std::int64_t i = 1 + below(5); i > 0; --i) {
        increments.push_back({below(2) == 0 ? "web.hits" : "likes", fmt::format("h{}", below(3)),
                              kCountersNow - below(5) * 1'700'000, below(2001) - 1000});
      }
      if (below(3) == 0) {
        key = fmt::format("key {}", step);
        keyed.emplace_back(key, increments);
      }
    }
    PointBatch batch;
    for (const Increment& one : increments) {
      batch.add(counter(one.metric, one.host), one.time, static_cast<ValueBits>(one.delta), 0);
    }
    ASSERT_THAT(add(std::move(batch), key), IsEmpty());
    for (const Increment& one : increments) {
      if (repeated) break;
      const CounterRule& rule = *counters_->rule_of(one.metric);
      for (std::size_t i = 0; i < rule.buckets.size(); ++i) {
        const TimestampMs begin =
            rule.buckets[i].length_ms == 0 ? kCountersNow : rule.buckets[i].begin_of(one.time);
        model[{one.metric, i}][{one.host, begin}] += one.delta;
      }
    }
    if (below(40) == 0) cut_power();
    if (below(20) != 0) continue;
    for (const auto& [where, expected] : model) {
      ASSERT_EQ(sums(where.first, where.second), expected) << where.first << " step " << step;
    }
  }
}

}  // namespace
}  // namespace halite::storage
