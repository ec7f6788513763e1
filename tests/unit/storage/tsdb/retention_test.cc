// Metrics that are kept for a time of their own: where their points go, that they expire alone, and
// that nothing that changes the rules or a name hides a point.
#include "storage/tsdb/core/retention.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "storage/backends/memory/memory_store.h"
#include "storage/tsdb/engine_store.h"
#include "tests/support/faulty_files.h"
#include "tests/support/run_task.h"
#include "tests/support/unruly_store.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RetentionTest : public testing::Test {
 protected:
  void TearDown() override {
    if (store_) close();
  }

  Result<void> try_open(std::vector<RetentionRule> rules) {
    CyclicOptions cyclic;
    cyclic.salt_buckets = 2;
    cyclic.span_ms = kHourMs;
    cyclic.slots = 100;
    cyclic.ttl_ms = base_ttl_ms_;
    cyclic.future_max_ms = kHourMs;
    cyclic.cleaning_ms = kHourMs;
    EngineOptions options;
    options.dir = "/data/engine";
    options.log.segment_bytes = 16 << 20;
    options.log.commit_interval_ms = 0;
    options.expiry_interval_ms = 1;
    options.maintenance_ms = kHourMs;  // only when asked
    options.retention = std::move(rules);
    EngineStore::Dependencies dependencies{.store = unruly_names_,
                                           .layout = CyclicLayout::make(cyclic).value(),
                                           .clock = clock_,
                                           .files = files_,
                                           .registry = metrics_};
    TRY(store_, test::run_task(EngineStore::open(std::move(dependencies), options)));
    return {};
  }
  void open(std::vector<RetentionRule> rules) {
    const Result<void> opened = try_open(std::move(rules));
    ASSERT_TRUE(opened) << opened.error().message;
  }
  void close() {
    EXPECT_TRUE(test::run_task(store_->close()));
    store_.reset();
  }

  // What the store says of it; empty = taken.
  std::string put(const std::string& metric, TimestampMs time) {
    std::vector<SeriesName> names = {{.metric = metric, .tags = {{.key = "k", .value = "v"}}}};
    const auto ids = test::run_task(store_->intern(std::move(names), CreateNames())).value();
    PointBatch batch;
    batch.add(ids[0].value(), time, integer_bits(time), 0);
    const auto accepted = test::run_task(store_->append(std::move(batch))).value();
    return accepted.refused.empty() ? "" : accepted.refused[0].error.message;
  }

  std::vector<TimestampMs> times(const std::string& metric) {
    SeriesQuery query;
    query.metric = metric;
    const auto selection = test::run_task(store_->select(std::move(query), {})).value();
    std::vector<TimestampMs> found;
    for (std::uint32_t shard = 0; shard < store_->shard_count(); ++shard) {
      const auto scan = store_->scan(selection, {.begin = 0, .end = INT64_MAX}, shard);
      for (;;) {
        const auto blocks = test::run_task(scan->next());
        EXPECT_TRUE(blocks);
        if (!blocks || blocks->empty()) break;
        for (const Block& block : *blocks) {
          found.insert(found.end(), block.times.begin(), block.times.end());
        }
      }
    }
    return found;
  }

  Result<void> rename(const std::string& from, const std::string& to) {
    return test::run_task(store_->uids().rename(NameKind::kMetric, from, to));
  }
  void flush() { ASSERT_TRUE(test::run_task(store_->flush())); }
  void seal() { ASSERT_TRUE(test::run_task(store_->seal())); }

  std::int64_t base_ttl_ms_ = 0;
  FakeClock clock_{kFullHour};
  prometheus::Registry metrics_;
  const std::shared_ptr<test::FaultyFiles> files_ = std::make_shared<test::FaultyFiles>(1);
  MemoryStore names_{clock_};
  test::Unruly unruly_;
  test::UnrulyStore unruly_names_{names_, "halite-settings", unruly_};
  std::unique_ptr<EngineStore> store_;
};

TEST_F(RetentionTest, PointsAreKeptAsLongAsTheirClass) {
  base_ttl_ms_ = 20 * kHourMs;
  open({{.prefix = "tmp.", .ttl_ms = 3 * kHourMs}});
  for (const char* metric : {"m", "tmp.a"}) EXPECT_EQ(put(metric, kFullHour), "");
  EXPECT_EQ(store_->kept_from("m"), kFullHour - 20 * kHourMs);
  EXPECT_EQ(store_->kept_from("tmp.a"), kFullHour - 3 * kHourMs);
  EXPECT_EQ(store_->kept_from(""), kFullHour - 3 * kHourMs);
  EXPECT_EQ(store_->kept_from("unknown"), kFullHour - 3 * kHourMs);
  ASSERT_TRUE(rename("tmp.a", "a"));  // it stays in its class
  EXPECT_EQ(store_->kept_from("a"), kFullHour - 3 * kHourMs);
  clock_.advance(kHourMs);
  EXPECT_EQ(store_->kept_from("m"), kFullHour - 19 * kHourMs);
}

TEST_F(RetentionTest, ANewNameChangesAllPointsOfASeries) {
  open({});
  EXPECT_EQ(put("m", kFullHour), "");
  clock_.advance(kHourMs);
  const PointChanges::Mark mark = store_->changes()->mark();
  EXPECT_EQ(store_->changes()->unchanged_before(mark), INT64_MAX);
  ASSERT_TRUE(rename("m", "n"));
  EXPECT_EQ(store_->changes()->unchanged_before(mark), INT64_MIN);
}

TEST_F(RetentionTest, EachClassExpiresByItsOwnTtl) {
  open(
      {{.prefix = "tmp.", .ttl_ms = 3 * kHourMs}, {.prefix = "tmp.long.", .ttl_ms = 50 * kHourMs}});
  EXPECT_EQ(store_->shard_count(), 6u);
  for (const char* metric : {"m", "tmp.a", "tmp.long.a"}) EXPECT_EQ(put(metric, kFullHour), "");
  EXPECT_THAT(put("tmp.a", kFullHour - 4 * kHourMs),
              HasSubstr("older than the retention of 3h (storage.retention)"));
  EXPECT_EQ(put("m", kFullHour - 4 * kHourMs), "");
  flush();
  clock_.set(kFullHour + 4 * kHourMs);
  EXPECT_THAT(times("tmp.a"), IsEmpty());
  EXPECT_THAT(times("tmp.long.a"), ElementsAre(kFullHour));
  seal();  // removes what is over
  EXPECT_THAT(times("m"), ElementsAre(kFullHour - 4 * kHourMs, kFullHour));
  clock_.set(kFullHour + 60 * kHourMs);
  EXPECT_THAT(times("tmp.long.a"), IsEmpty());
  EXPECT_THAT(times("m"), ElementsAre(kFullHour - 4 * kHourMs, kFullHour));
}

TEST_F(RetentionTest, ForEverBesideATtl) {
  base_ttl_ms_ = 3 * kHourMs;
  open({{.prefix = "audit.", .ttl_ms = 0}});
  EXPECT_EQ(put("audit.a", kFullHour - 1000 * kHourMs), "");
  EXPECT_NE(put("m", kFullHour - 1000 * kHourMs), "");
  seal();
  EXPECT_THAT(times("audit.a"), ElementsAre(kFullHour - 1000 * kHourMs));
}

TEST_F(RetentionTest, MetricsStayWhereTheyWereMadeWhenRulesChange) {
  open({{.prefix = "tmp.", .ttl_ms = 20 * kHourMs}});
  put("tmp.old", kFullHour);
  put("other.old", kFullHour);
  flush();
  put("tmp.old", kFullHour + 1);  // is in the log when the store is closed
  close();

  open({{.prefix = "other.", .ttl_ms = 30 * kHourMs}});
  EXPECT_THAT(times("tmp.old"), ElementsAre(kFullHour, kFullHour + 1));
  EXPECT_THAT(times("other.old"), ElementsAre(kFullHour));
  EXPECT_EQ(put("tmp.old", kFullHour + 2), "");
  EXPECT_EQ(put("tmp.new", kFullHour), "");    // no rule names it now
  EXPECT_EQ(put("other.new", kFullHour), "");  // but this
  EXPECT_EQ(put("other.old", kFullHour + 2), "");
  clock_.set(kFullHour + 25 * kHourMs);
  EXPECT_THAT(times("tmp.old"), IsEmpty());
  EXPECT_THAT(times("tmp.new"), ElementsAre(kFullHour));
  EXPECT_THAT(times("other.new"), ElementsAre(kFullHour));
  close();

  open({});
  clock_.set(kFullHour + 35 * kHourMs);
  EXPECT_THAT(times("other.new"), IsEmpty());
  EXPECT_THAT(times("other.old"), ElementsAre(kFullHour, kFullHour + 2));
}

TEST_F(RetentionTest, AMetricStaysWhereItIsWhenItIsRenamed) {
  open({{.prefix = "tmp.", .ttl_ms = 20 * kHourMs}});
  put("tmp.a", kFullHour);
  put("kept", kFullHour);
  ASSERT_TRUE(rename("tmp.a", "fine"));
  ASSERT_TRUE(rename("kept", "tmp.kept"));
  EXPECT_THAT(times("fine"), ElementsAre(kFullHour));
  close();
  open({{.prefix = "tmp.", .ttl_ms = 20 * kHourMs}});
  EXPECT_THAT(times("fine"), ElementsAre(kFullHour));
  EXPECT_THAT(times("tmp.kept"), ElementsAre(kFullHour));
  clock_.set(kFullHour + 25 * kHourMs);
  EXPECT_THAT(times("fine"), IsEmpty());
  EXPECT_THAT(times("tmp.kept"), ElementsAre(kFullHour));
}

// The write of the first is held back until the second has done all that it can do before.
TEST_F(RetentionTest, TwoMetricsRenamedAtOnceBothStay) {
  open({{.prefix = "tmp.", .ttl_ms = 20 * kHourMs}});
  put("tmp.a", kFullHour);
  put("tmp.b", kFullHour);
  flush();
  boost::asio::io_context context;
  std::vector<Result<void>> outcomes;
  const auto start = [&](Task<void> task) {
    boost::asio::co_spawn(context, std::move(task),
                          [&outcomes](const std::exception_ptr&, Result<void> outcome) {
                            outcomes.push_back(std::move(outcome));
                          });
    context.restart();
    context.poll();
  };
  unruly_.hold();
  const Completion first = unruly_.current();
  start(store_->uids().rename(NameKind::kMetric, "tmp.a", "fine.a"));
  ASSERT_THAT(outcomes, IsEmpty());
  unruly_.hold();
  unruly_.release();
  start(store_->uids().rename(NameKind::kMetric, "tmp.b", "fine.b"));
  first.finish({});
  context.restart();
  context.run();
  ASSERT_EQ(outcomes.size(), 2u);
  for (const Result<void>& outcome : outcomes) EXPECT_TRUE(outcome) << outcome.error().message;
  close();

  open({{.prefix = "tmp.", .ttl_ms = 20 * kHourMs}});
  EXPECT_THAT(times("fine.a"), ElementsAre(kFullHour));
  EXPECT_THAT(times("fine.b"), ElementsAre(kFullHour));
}

TEST_F(RetentionTest, ATtlMayChangeButARingStaysOne) {
  open({{.prefix = "tmp.", .ttl_ms = 20 * kHourMs}});
  put("tmp.a", kFullHour);
  close();
  clock_.set(kFullHour + 25 * kHourMs);
  open({{.prefix = "tmp.", .ttl_ms = 40 * kHourMs}});
  EXPECT_THAT(times("tmp.a"), ElementsAre(kFullHour));
  close();
  const Result<void> for_ever = try_open({{.prefix = "tmp.", .ttl_ms = 0}});
  ASSERT_FALSE(for_ever);
  EXPECT_THAT(for_ever.error().message, HasSubstr("cannot be kept forever"));
  const Result<void> too_long = try_open({{.prefix = "tmp.", .ttl_ms = 200 * kHourMs}});
  ASSERT_FALSE(too_long);
  EXPECT_THAT(too_long.error().message, HasSubstr("storage.retention: tmp.: 100 slots"));
}

TEST_F(RetentionTest, MoreClassesThanThereIsRoomForAreRefused) {
  std::vector<RetentionRule> rules;
  for (int i = 0; i < 128; ++i) {
    rules.push_back({.prefix = std::string(1, static_cast<char>('!' + i % 90)) + std::to_string(i),
                     .ttl_ms = kHourMs});
  }
  const Result<void> opened = try_open(rules);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("allows only 127"));
}

TEST(RetentionState, ComesBackFromItsBytes) {
  engine::RetentionState state;
  state.classes = {{.prefix = "tmp.\"", .ttl_ms = 5, .slots = 7, .in_use = true},
                   {.prefix = "x", .ttl_ms = 0, .slots = 0, .in_use = false}};
  state.pinned = {{5, 1}, {9, 0}};
  const Bytes bytes = state.to_bytes();
  EXPECT_EQ(bytes,
            R"({"format":1,"classes":[{"prefix":"tmp.\"","ttl_ms":5,"slots":7,"in_use":true},)"
            R"({"prefix":"x","ttl_ms":0,"slots":0,"in_use":false}],"pinned":[[5,1],[9,0]]})");
  EXPECT_EQ(engine::RetentionState::from_bytes(bytes).value(), state);
  for (const char* bad : {"", "[]", "{}", R"({"format":1,"classes":[],"pinned":[[1,1]]})",
                          R"({"format":1,"classes":[{}],"pinned":[]})"}) {
    const auto read = engine::RetentionState::from_bytes(bad);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().code, Errc::kCorruption);
  }
  const auto later = engine::RetentionState::from_bytes(R"({"format":2})");
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, Errc::kUnsupported);
}

}  // namespace
}  // namespace halite::storage
