// What people are shown of an engine: its slots, what reading took, how many series there are.
#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include "storage/api/read_context.h"
#include "storage/catalog/cardinality.h"
#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

using test::run_task;

// Counts what reading took.
class Counting final : public ReadCounters {
 public:
  void count_read(const ReadWork& work) override {
    decoded += work.chunks_decoded;
    skipped += work.chunks_skipped;
    totals += work.totals;
  }

  std::atomic<std::uint64_t> decoded = 0;
  std::atomic<std::uint64_t> skipped = 0;
  std::atomic<std::uint64_t> totals = 0;
};

class LooksTest : public testing::Test {
 protected:
  void SetUp() override {
    world_.layout.salt_buckets = 2;
    world_.layout.ttl_ms = 30 * kDayMs;
    world_.options.log.commit_interval_ms = 0;
    world_.options.seal_quiet_ms = kHourMs;
    world_.options.retention = {{.prefix = "tmp.", .ttl_ms = 2 * kDayMs}};
    ASSERT_TRUE(world_.open());
  }
  void TearDown() override {
    if (world_.points != nullptr) EXPECT_TRUE(world_.close());
  }

  void put(const std::string& host, TimestampMs begin, int points) {
    const std::vector<SeriesId> ids = world_.intern({host}).value();
    PointBatch batch;
    for (int i = 0; i < points; ++i) {
      batch.add(ids[0], begin + i * (kHourMs / 10), integer_bits(i), 0);
    }
    ASSERT_TRUE(run_task(world_.points->append(std::move(batch))));
  }

  std::shared_ptr<Counting> read(TimeRange range, TotalsRequest wish = {}) {
    auto counting = std::make_shared<Counting>();
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(world_.points->select(query, {.counters = counting})).value();
    for (std::uint32_t shard = 0; shard < world_.points->shard_count(); ++shard) {
      const auto scan = world_.points->scan_totals(selection, range, shard, wish);
      while (!run_task(scan->next()).value().empty()) {
      }
    }
    return counting;
  }

  Cardinality cardinality() {
    CardinalityCounter counter(world_.points->registry(), {}, world_.clock, pool_.get_executor());
    return *run_task(counter.counts()).value();
  }

  test::EngineWorld world_{1, kMidnight};
  boost::asio::thread_pool pool_{1};
};

TEST_F(LooksTest, slots_are_told_from_their_files) {
  const std::vector<RetentionStatus> empty = world_.points->retention_status();
  ASSERT_EQ(empty.size(), 2U);
  EXPECT_EQ(empty[0].prefix, "");
  EXPECT_EQ(empty[0].ttl_ms, 30 * kDayMs);
  EXPECT_EQ(empty[0].ring_slots, 1024U);
  EXPECT_EQ(empty[1].prefix, "tmp.");
  EXPECT_TRUE(empty[0].slots.empty());

  put("a", kMidnight - kDayMs, 100);
  put("b", kMidnight - kDayMs, 100);
  put("a", kMidnight, 3);
  ASSERT_TRUE(run_task(world_.points->flush()));
  std::vector<SlotStatus> slots = world_.points->retention_status()[0].slots;
  ASSERT_EQ(slots.size(), 2U);
  EXPECT_EQ(slots[0].period, kMidnight / kDayMs - 1);
  EXPECT_EQ(slots[0].slot, (kMidnight / kDayMs - 1) % 1024);
  EXPECT_GT(slots[0].bytes, 0U);
  EXPECT_GT(slots[0].files, 0U);
  EXPECT_FALSE(slots[0].sealed);
  EXPECT_EQ(slots[1].period, kMidnight / kDayMs);

  ASSERT_TRUE(run_task(world_.points->seal()));
  slots = world_.points->retention_status()[0].slots;
  ASSERT_EQ(slots.size(), 2U);
  EXPECT_TRUE(slots[0].sealed);
  EXPECT_FALSE(slots[0].late);
  EXPECT_TRUE(world_.points->retention_status()[1].slots.empty());
}

TEST_F(LooksTest, who_reads_is_told_of_chunks_decoded_and_passed_over) {
  put("a", kMidnight - kDayMs, 20);
  ASSERT_TRUE(run_task(world_.points->flush()));
  put("a", kMidnight - kDayMs + 10 * kHourMs, 20);
  ASSERT_TRUE(run_task(world_.points->flush()));
  const auto both = read({.begin = kMidnight - kDayMs, .end = kMidnight});
  EXPECT_EQ(both->decoded, 2U);
  EXPECT_EQ(both->skipped, 0U);
  const auto first = read({.begin = kMidnight - kDayMs, .end = kMidnight - kDayMs + kHourMs});
  EXPECT_EQ(first->decoded, 1U);
  EXPECT_EQ(first->skipped, 1U);
}

TEST_F(LooksTest, hours_of_sealed_series_are_told_by_totals) {
  put("a", kMidnight - kDayMs, 200);
  ASSERT_TRUE(run_task(world_.points->seal()));
  const auto work = read({.begin = kMidnight - kDayMs, .end = kMidnight}, {.bucket_ms = kHourMs});
  EXPECT_EQ(work->decoded, 0U);
  EXPECT_EQ(work->totals, 20U);
}

TEST_F(LooksTest, series_are_counted_with_rows_and_without) {
  EXPECT_EQ(cardinality().series, 0U);
  put("a", kMidnight, 1);
  put("b", kMidnight, 1);
  Cardinality counts = cardinality();  // neither has a row yet
  EXPECT_EQ(counts.series, 2U);
  ASSERT_EQ(counts.metrics.size(), 1U);
  EXPECT_EQ(counts.metrics[0].name, "m");
  EXPECT_EQ(counts.metrics[0].series, 2U);
  EXPECT_EQ(counts.metrics[0].grown, 0);
  ASSERT_EQ(counts.tag_keys.size(), 1U);
  EXPECT_EQ(counts.tag_keys[0].name, "host");
  EXPECT_EQ(counts.tag_keys[0].series, 2U);
  EXPECT_EQ(counts.tag_keys[0].values, 2U);

  ASSERT_TRUE(world_.close());
  ASSERT_TRUE(world_.open());
  EXPECT_EQ(cardinality().series, 2U);  // rows only: no query has loaded them
  put("b", kMidnight + 1, 1);           // in memory and in rows: still one
  put("c", kMidnight + 1, 1);
  counts = cardinality();
  EXPECT_EQ(counts.series, 3U);
  EXPECT_EQ(counts.tag_keys[0].values, 3U);
}

TEST_F(LooksTest, a_young_count_is_given_again_and_growth_is_told_from_the_first) {
  CardinalityCounter cardinality_counter(world_.points->registry(), {}, world_.clock,
                                         pool_.get_executor());
  put("a", kMidnight, 1);
  const auto first = run_task(cardinality_counter.counts()).value();
  put("b", kMidnight, 1);
  EXPECT_EQ(run_task(cardinality_counter.counts()).value(), first);
  world_.clock.advance(2000);
  const auto second = run_task(cardinality_counter.counts()).value();
  EXPECT_EQ(second->series, 2U);
  EXPECT_EQ(second->metrics[0].grown, 1);
  EXPECT_EQ(second->grown_since_ms, kMidnight);
  world_.clock.advance(kHourMs);
  EXPECT_EQ(run_task(cardinality_counter.counts()).value()->metrics[0].grown, 1);
  world_.clock.advance(kHourMs);  // the count of an hour ago is the base now
  const auto later = run_task(cardinality_counter.counts()).value();
  EXPECT_EQ(later->metrics[0].grown, 0);
  EXPECT_GT(later->grown_since_ms, kMidnight);

  cardinality_counter.stop();
  world_.clock.advance(2000);
  const auto stopped = run_task(cardinality_counter.counts());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Errc::kUnavailable);
}

}  // namespace
}  // namespace halite::storage
