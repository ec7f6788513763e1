// Scans pass by series that have no points in a slot, and never by one that has.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "storage/backends/memory/memory_store.h"
#include "storage/tsdb/engine_store.h"
#include "storage/tsdb/read/active_filter.h"
#include "tests/support/faulty_files.h"
#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

constexpr std::uint64_t kHosts = 300;

using Found = std::set<std::pair<std::uint64_t, TimestampMs>>;  // host, time

class AliveTest : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override { open(); }
  void TearDown() override { close(); }

  void open() {
    CyclicOptions cyclic;
    cyclic.salt_buckets = 3;
    cyclic.span_ms = kHourMs;
    cyclic.slots = 20;  // a ring
    cyclic.ttl_ms = 5 * kHourMs;
    cyclic.future_max_ms = 2 * kHourMs;
    cyclic.cleaning_ms = kHourMs;
    EngineOptions options;
    options.dir = "/data/engine";
    options.log.segment_bytes = 16 << 20;
    options.log.commit_interval_ms = 0;
    options.expiry_interval_ms = 1;
    options.maintenance_ms = 24 * kHourMs;  // only when asked
    options.list_active_min = GetParam();
    EngineStore::Dependencies dependencies{.store = names_,
                                           .layout = CyclicLayout::make(cyclic).value(),
                                           .clock = clock_,
                                           .files = files_,
                                           .registry = metrics_};
    store_ = test::run_task(EngineStore::open(std::move(dependencies), options)).value();
  }
  void close() {
    EXPECT_TRUE(test::run_task(store_->close()));
    store_.reset();
  }

  // A point of each host from begin to before end, by step.
  void put(std::uint64_t begin, std::uint64_t end, std::uint64_t step, TimestampMs time) {
    std::vector<SeriesName> names;
    for (std::uint64_t host = begin; host < end; host += step) {
      names.push_back({.metric = "m", .tags = {{.key = "host", .value = fmt::to_string(host)}}});
    }
    const auto ids = test::run_task(store_->intern(std::move(names), CreateNames())).value();
    PointBatch batch;
    std::uint64_t host = begin;
    for (const Result<SeriesId>& id : ids) {
      batch.add(id.value(), time, integer_bits(time), 0);
      there_.emplace(host, time);
      host += step;
    }
    const auto accepted = test::run_task(store_->append(std::move(batch))).value();
    ASSERT_TRUE(accepted.refused.empty()) << accepted.refused[0].error.message;
  }

  std::shared_ptr<const Selection> select() {
    SeriesQuery query;
    query.metric = "m";
    return test::run_task(store_->select(std::move(query), {})).value();
  }

  Found read(const std::shared_ptr<const Selection>& selection, TimeRange range) {
    Found found;
    for (std::uint32_t shard = 0; shard < store_->shard_count(); ++shard) {
      const auto scan = store_->scan(selection, range, shard);
      for (;;) {
        const auto blocks = test::run_task(scan->next()).value();
        if (blocks.empty()) break;
        for (const Block& block : blocks) {
          const std::string host(store_->series(block.series).tags[0].value);
          for (const TimestampMs time : block.times) found.emplace(std::stoull(host), time);
        }
      }
    }
    return found;
  }

  Found last(const std::shared_ptr<const Selection>& selection, TimeRange range) {
    Found found;
    const auto points = test::run_task(store_->last(selection, range)).value();
    for (const LastPoint& point : points) {
      found.emplace(std::stoull(std::string(store_->series(point.series).tags[0].value)),
                    point.time);
    }
    return found;
  }

  void expect_all() {
    const auto selection = select();
    for (const auto& [first, hours] :
         std::vector<std::pair<int, int>>{{-5, 8}, {0, 1}, {1, 1}, {-1, 2}}) {
      const TimeRange range = {.begin = kFullHour + first * kHourMs,
                               .end = kFullHour + (first + hours) * kHourMs};
      SCOPED_TRACE(fmt::format("{} hours from {}", hours, first));
      Found expected;
      std::map<std::uint64_t, TimestampMs> newest;
      for (const auto& [host, time] : there_) {
        if (time < range.begin || time >= range.end) continue;
        expected.emplace(host, time);
        newest[host] = std::max(newest[host], time);
      }
      EXPECT_EQ(read(selection, range), expected);
      EXPECT_EQ(last(selection, range), Found(newest.begin(), newest.end()));
    }
  }

  void flush() { ASSERT_TRUE(test::run_task(store_->flush())); }

  FakeClock clock_{kFullHour};
  prometheus::Registry metrics_;
  const std::shared_ptr<test::FaultyFiles> files_ = std::make_shared<test::FaultyFiles>(1);
  MemoryStore names_{clock_};
  std::unique_ptr<EngineStore> store_;
  Found there_;
};

TEST_P(AliveTest, WhateverTheOrderOfFlushesRestartsAndQuestions) {
  put(0, kHosts, 1, kFullHour);
  expect_all();  // in the head alone
  flush();
  expect_all();
  put(0, kHosts, 2, kFullHour + kHourMs + 1);
  expect_all();
  flush();
  expect_all();
  put(1, kHosts, 4, kFullHour + 5);            // late, of a slot that was asked about
  put(1, kHosts, 4, kFullHour - 2 * kHourMs);  // later still, of a slot without points so far
  expect_all();
  flush();
  expect_all();
  close();
  open();
  expect_all();
  put(kHosts, kHosts + 50, 1, kFullHour + kHourMs + 2);  // series that were not there
  put(3, kHosts, 9, kFullHour + kHourMs + 3);
  flush();
  expect_all();
  ASSERT_TRUE(test::run_task(store_->seal()));
  expect_all();
  put(0, kHosts, 30, kFullHour + kHourMs + 7);
  close();  // what the log holds is flushed by the next start
  open();
  expect_all();
}

TEST_P(AliveTest, ASlotThatIsUsedAgainHasOnlyItsOwn) {
  put(0, kHosts, 1, kFullHour);
  flush();
  expect_all();
  clock_.advance(20 * kHourMs);  // the same slot
  there_.clear();
  put(0, kHosts, 7, kFullHour + 20 * kHourMs);
  flush();
  const TimeRange range = {.begin = kFullHour + 20 * kHourMs, .end = kFullHour + 21 * kHourMs};
  EXPECT_EQ(read(select(), range), there_);
  close();
  open();
  EXPECT_EQ(read(select(), range), there_);
  EXPECT_EQ(last(select(), range), there_);
}

INSTANTIATE_TEST_SUITE_P(, AliveTest, testing::Values(1, 50, 1'000'000));

}  // namespace
}  // namespace halite::storage
