// Metrics that are kept for a time of their own: where their points go, that they expire alone, and
// that nothing that changes the rules or a name hides a point.
#include "storage/engine/retention.h"

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

#include "storage/engine/engine_store.h"
#include "storage/memory_store.h"
#include "tests/support/faulty_files.h"
#include "tests/support/run_task.h"
#include "tests/support/unruly_store.h"

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kHour = 3'600'000;
constexpr TimestampMs kStart = 1'700'000'000'000 / kHour * kHour;

class RetentionTest : public testing::Test {
 protected:
  void TearDown() override {
    if (store_) close();
  }

  Result<void> try_open(std::vector<RetentionRule> rules) {
    CyclicOptions cyclic;
    cyclic.salt_buckets = 2;
    cyclic.span_ms = kHour;
    cyclic.slots = 100;
    cyclic.ttl_ms = base_ttl_ms_;
    cyclic.future_max_ms = kHour;
    cyclic.cleaning_ms = kHour;
    EngineOptions options;
    options.dir = "/data/engine";
    options.log.segment_bytes = 16 << 20;
    options.log.commit_interval_ms = 0;
    options.expiry_interval_ms = 1;
    options.maintenance_ms = kHour;  // only when asked
    options.retention = std::move(rules);
    EngineStore::Parts parts{.store = unruly_names_,
                             .layout = CyclicLayout::make(cyclic).value(),
                             .clock = clock_,
                             .files = files_,
                             .registry = metrics_};
    TRY(store_, test::run_task(EngineStore::open(std::move(parts), options)));
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
    const auto selection = test::run_task(store_->select(std::move(query))).value();
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
  FakeClock clock_{kStart};
  prometheus::Registry metrics_;
  const std::shared_ptr<test::FaultyFiles> files_ = std::make_shared<test::FaultyFiles>(1);
  MemoryStore names_{clock_};
  test::Unruly unruly_;
  test::UnrulyStore unruly_names_{names_, "halite-settings", unruly_};
  std::unique_ptr<EngineStore> store_;
};

TEST_F(RetentionTest, EachClassExpiresByItsOwnTtl) {
  open({{.prefix = "tmp.", .ttl_ms = 3 * kHour}, {.prefix = "tmp.long.", .ttl_ms = 50 * kHour}});
  EXPECT_EQ(store_->shard_count(), 6u);
  for (const char* metric : {"m", "tmp.a", "tmp.long.a"}) EXPECT_EQ(put(metric, kStart), "");
  EXPECT_THAT(put("tmp.a", kStart - 4 * kHour),
              HasSubstr("older than the retention of 3h (storage.retention)"));
  EXPECT_EQ(put("m", kStart - 4 * kHour), "");
  flush();
  clock_.set(kStart + 4 * kHour);
  EXPECT_THAT(times("tmp.a"), IsEmpty());
  EXPECT_THAT(times("tmp.long.a"), ElementsAre(kStart));
  seal();  // removes what is over
  EXPECT_THAT(times("m"), ElementsAre(kStart - 4 * kHour, kStart));
  clock_.set(kStart + 60 * kHour);
  EXPECT_THAT(times("tmp.long.a"), IsEmpty());
  EXPECT_THAT(times("m"), ElementsAre(kStart - 4 * kHour, kStart));
}

TEST_F(RetentionTest, ForEverBesideATtl) {
  base_ttl_ms_ = 3 * kHour;
  open({{.prefix = "audit.", .ttl_ms = 0}});
  EXPECT_EQ(put("audit.a", kStart - 1000 * kHour), "");
  EXPECT_NE(put("m", kStart - 1000 * kHour), "");
  seal();
  EXPECT_THAT(times("audit.a"), ElementsAre(kStart - 1000 * kHour));
}

TEST_F(RetentionTest, MetricsStayWhereTheyWereMadeWhenRulesChange) {
  open({{.prefix = "tmp.", .ttl_ms = 20 * kHour}});
  put("tmp.old", kStart);
  put("other.old", kStart);
  flush();
  put("tmp.old", kStart + 1);  // is in the log when the store is closed
  close();

  open({{.prefix = "other.", .ttl_ms = 30 * kHour}});
  EXPECT_THAT(times("tmp.old"), ElementsAre(kStart, kStart + 1));
  EXPECT_THAT(times("other.old"), ElementsAre(kStart));
  EXPECT_EQ(put("tmp.old", kStart + 2), "");
  EXPECT_EQ(put("tmp.new", kStart), "");    // no rule names it now
  EXPECT_EQ(put("other.new", kStart), "");  // but this
  EXPECT_EQ(put("other.old", kStart + 2), "");
  clock_.set(kStart + 25 * kHour);
  EXPECT_THAT(times("tmp.old"), IsEmpty());
  EXPECT_THAT(times("tmp.new"), ElementsAre(kStart));
  EXPECT_THAT(times("other.new"), ElementsAre(kStart));
  close();

  open({});
  clock_.set(kStart + 35 * kHour);
  EXPECT_THAT(times("other.new"), IsEmpty());
  EXPECT_THAT(times("other.old"), ElementsAre(kStart, kStart + 2));
}

TEST_F(RetentionTest, AMetricStaysWhereItIsWhenItIsRenamed) {
  open({{.prefix = "tmp.", .ttl_ms = 20 * kHour}});
  put("tmp.a", kStart);
  put("kept", kStart);
  ASSERT_TRUE(rename("tmp.a", "fine"));
  ASSERT_TRUE(rename("kept", "tmp.kept"));
  EXPECT_THAT(times("fine"), ElementsAre(kStart));
  close();
  open({{.prefix = "tmp.", .ttl_ms = 20 * kHour}});
  EXPECT_THAT(times("fine"), ElementsAre(kStart));
  EXPECT_THAT(times("tmp.kept"), ElementsAre(kStart));
  clock_.set(kStart + 25 * kHour);
  EXPECT_THAT(times("fine"), IsEmpty());
  EXPECT_THAT(times("tmp.kept"), ElementsAre(kStart));
}

// The write of the first is held back until the second has done all that it can do before.
TEST_F(RetentionTest, TwoMetricsRenamedAtOnceBothStay) {
  open({{.prefix = "tmp.", .ttl_ms = 20 * kHour}});
  put("tmp.a", kStart);
  put("tmp.b", kStart);
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

  open({{.prefix = "tmp.", .ttl_ms = 20 * kHour}});
  EXPECT_THAT(times("fine.a"), ElementsAre(kStart));
  EXPECT_THAT(times("fine.b"), ElementsAre(kStart));
}

TEST_F(RetentionTest, ATtlMayChangeButARingStaysOne) {
  open({{.prefix = "tmp.", .ttl_ms = 20 * kHour}});
  put("tmp.a", kStart);
  close();
  clock_.set(kStart + 25 * kHour);
  open({{.prefix = "tmp.", .ttl_ms = 40 * kHour}});
  EXPECT_THAT(times("tmp.a"), ElementsAre(kStart));
  close();
  const Result<void> for_ever = try_open({{.prefix = "tmp.", .ttl_ms = 0}});
  ASSERT_FALSE(for_ever);
  EXPECT_THAT(for_ever.error().message, HasSubstr("cannot be kept for ever"));
  const Result<void> too_long = try_open({{.prefix = "tmp.", .ttl_ms = 200 * kHour}});
  ASSERT_FALSE(too_long);
  EXPECT_THAT(too_long.error().message, HasSubstr("storage.retention: tmp.: 100 slots"));
}

TEST_F(RetentionTest, MoreClassesThanThereIsRoomForAreRefused) {
  std::vector<RetentionRule> rules;
  for (int i = 0; i < 128; ++i) {
    rules.push_back({.prefix = std::string(1, static_cast<char>('!' + i % 90)) + std::to_string(i),
                     .ttl_ms = kHour});
  }
  const Result<void> opened = try_open(rules);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("there is room for 127"));
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
