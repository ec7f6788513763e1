// What a question's limits and its stop mean for selecting and reading, and what series cost.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/thread_pool.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "storage/backends/memory/memory_store.h"
#include "storage/catalog/series_table.h"
#include "storage/cells/cell_point_store.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "tests/support/run_task.h"
#include "tests/support/test_budget.h"
#include "tests/support/unruly_store.h"

namespace halite::storage {
namespace {

using test::run_task;
using test::TestBudget;
using testing::HasSubstr;

constexpr TimestampMs kNow = 1'700'000'000'000;
constexpr TimeRange kAlways{0, kNow + 1};
constexpr std::size_t kSeries = 10'000;  // more than two batches of a load

// A metric m of kSeries series with a point each, in a store that has just been opened: nothing of
// it is in memory.
class SelectionLimits : public testing::Test {
 protected:
  void SetUp() override {
    open();
    std::vector<SeriesName> names;
    for (std::size_t i = 0; i < kSeries; ++i) {
      names.push_back({"m", {{"host", fmt::format("web{:05}", i)}}});
    }
    const auto ids = run_task(points_->intern(std::move(names), {})).value();
    PointBatch batch;
    for (const auto& id : ids) batch.add(id.value(), kNow, integer_bits(1), 0);
    ASSERT_TRUE(run_task(points_->append(std::move(batch))));
    reopen();
  }
  void TearDown() override {
    ASSERT_TRUE(run_task(points_->close()));
    background_.join();
  }

  void open(CellPointStoreOptions options = {}) {
    OpentsdbOptions salted;
    salted.salt_width = 1;
    const std::shared_ptr<const OpentsdbLayout> layout = OpentsdbLayout::make(salted).value();
    CellPointStore::Dependencies dependencies{
        unruly_store_, layout, layout->parameters(), clock_, background_.get_executor(), metrics_};
    points_ = run_task(CellPointStore::open(std::move(dependencies), std::move(options))).value();
  }
  void reopen(CellPointStoreOptions options = {}) {
    ASSERT_TRUE(run_task(points_->close()));
    open(std::move(options));
  }

  Task<std::shared_ptr<const Selection>> select(std::shared_ptr<WorkBudget> budget,
                                                const std::string& host = "*") {
    SeriesQuery query;
    query.metric = "m";
    query.filters = {{FilterType::kWildcard, "host", host}};
    return points_->select(std::move(query), {.budget = std::move(budget)});
  }
  std::size_t selected() {
    const auto selection = run_task(select(nullptr)).value();
    return run_task(points_->lookup(selection, 0)).value().size();
  }

  FakeClock clock_{kNow};
  MemoryStore cells_{clock_};
  test::Unruly unruly_;
  test::UnrulyStore unruly_store_{cells_, "halite-series", unruly_};
  prometheus::Registry metrics_;
  boost::asio::thread_pool background_{4};
  std::unique_ptr<CellPointStore> points_;
};

TEST_F(SelectionLimits, ASelectionNobodyWantsIsNotMade) {
  for (const int checks : {0, 1, 2, 3}) {
    auto budget = std::make_shared<TestBudget>();
    budget->stop_after(checks);
    const auto selection = run_task(select(budget));
    ASSERT_FALSE(selection) << checks;
    EXPECT_EQ(selection.error().code, Errc::kCancelled);
  }
  EXPECT_EQ(selected(), kSeries);
}

TEST_F(SelectionLimits, LoadingSeriesCountsAsMemoryOnce) {
  const auto each = static_cast<std::int64_t>(series_bytes(1, 9));
  auto poor = std::make_shared<TestBudget>();
  poor->bytes_max = each * static_cast<std::int64_t>(kSeries) - 1;
  const auto refused = run_task(select(poor));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "too many bytes for the test");

  auto rich = std::make_shared<TestBudget>();
  ASSERT_TRUE(run_task(select(rich)));
  EXPECT_GT(rich->bytes(), 0);
  EXPECT_LT(rich->bytes(), each * static_cast<std::int64_t>(kSeries));  // some were loaded before
  auto later = std::make_shared<TestBudget>();
  ASSERT_TRUE(run_task(select(later)));
  EXPECT_EQ(later->bytes(), 0);
}

TEST_F(SelectionLimits, LoadingWithinTheMemoryAllowed) {
  auto enough = std::make_shared<TestBudget>();
  enough->bytes_max = static_cast<std::int64_t>(series_bytes(1, 9) * kSeries);
  EXPECT_TRUE(run_task(select(enough)));
  EXPECT_EQ(enough->bytes(), enough->bytes_max);
}

TEST_F(SelectionLimits, SeriesAtTheirMaximumAndOneMore) {
  auto budget = std::make_shared<TestBudget>();
  budget->series_max = kSeries - 1;
  const auto refused = run_task(select(budget));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "too many series for the test");
  budget->series_max = kSeries;
  EXPECT_TRUE(run_task(select(budget)));
  // Only those wanted count, not the metric's.
  budget->series_max = 10;
  EXPECT_TRUE(run_task(select(budget, "web0001*")));
  EXPECT_FALSE(run_task(select(budget, "web000*")));
}

// One reads for both, until it is stopped: then the other reads on.
TEST_F(SelectionLimits, OnesStopIsNotAnothers) {
  unruly_.scan_delay_ms = 1;
  for (int checks = 0; checks < 8; ++checks) {
    reopen();
    auto stopped = std::make_shared<TestBudget>();
    stopped->stop_after(checks);
    std::vector<Task<std::shared_ptr<const Selection>>> tasks;
    tasks.push_back(select(stopped));
    tasks.push_back(select(std::make_shared<TestBudget>()));
    tasks.push_back(select(nullptr));
    const auto outcomes = test::run_tasks(std::move(tasks), 3);
    if (!outcomes[0]) EXPECT_EQ(outcomes[0].error().code, Errc::kCancelled);
    EXPECT_TRUE(outcomes[1]) << outcomes[1].error().message;
    EXPECT_TRUE(outcomes[2]) << outcomes[2].error().message;
    EXPECT_EQ(selected(), kSeries);
  }
}

TEST_F(SelectionLimits, EverythingDoneWithASelectionStops) {
  auto budget = std::make_shared<TestBudget>();
  const auto selection = run_task(select(budget)).value();
  std::size_t blocks = 0;
  for (std::uint32_t shard = 0; shard < points_->shard_count(); ++shard) {
    const auto scan = points_->scan(selection, kAlways, shard);
    blocks += run_task(scan->next()).value().size();
    budget->stop_after(0);
    const auto next = run_task(scan->next());
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code, Errc::kCancelled);
    budget->stop_after(1000);
  }
  EXPECT_GT(blocks, 0U);
  budget->stop();
  EXPECT_EQ(run_task(points_->lookup(selection, 10)).error().code, Errc::kCancelled);
  EXPECT_EQ(run_task(points_->last(selection, kAlways)).error().code, Errc::kCancelled);
  EXPECT_EQ(run_task(points_->delete_range(selection, kAlways)).error().code, Errc::kCancelled);
  const auto all = run_task(select(nullptr)).value();
  EXPECT_EQ(run_task(points_->last(all, kAlways))->size(), kSeries);
}

TEST_F(SelectionLimits, SeriesThatComeLaterAreSeen) {
  const auto selection = run_task(select(nullptr)).value();
  ASSERT_EQ(run_task(points_->lookup(selection, 0))->size(), kSeries);
  std::vector<SeriesName> names{{"m", {{"host", "new"}}}, {"m", {{"box", "other"}}}};
  const auto ids = run_task(points_->intern(std::move(names), {})).value();
  PointBatch batch;
  for (const auto& id : ids) batch.add(id.value(), kNow, integer_bits(2), 0);
  ASSERT_TRUE(run_task(points_->append(std::move(batch))));
  ASSERT_TRUE(run_task(points_->flush()));
  EXPECT_EQ(run_task(points_->last(selection, kAlways))->size(), kSeries + 1);
}

// The least that matters of a question with several windows: each shard asks once a window.
TEST_F(SelectionLimits, ShardsShareOneLookAtTheSeries) {
  const auto selection = run_task(select(nullptr)).value();
  std::vector<Task<std::vector<Block>>> tasks;
  std::vector<std::unique_ptr<BlockScan>> scans;
  for (int window = 0; window < 20; ++window) {
    for (std::uint32_t shard = 0; shard < points_->shard_count(); ++shard) {
      scans.push_back(points_->scan(selection, kAlways, shard));
      tasks.push_back(scans.back()->next());
    }
  }
  for (const auto& blocks : test::run_tasks(std::move(tasks), 4)) EXPECT_FALSE(blocks->empty());
}

TEST_F(SelectionLimits, SeriesBytesAtTheirMaximumAndOneLess) {
  CellPointStoreOptions options;
  options.series_bytes_max = series_bytes(1, 9) * kSeries;
  reopen(options);
  EXPECT_EQ(selected(), kSeries);
  const auto more = run_task(points_->intern({{"m", {{"host", "one-more"}}}}, {})).value();
  ASSERT_FALSE(more.front());
  EXPECT_EQ(more.front().error().code, Errc::kTooLarge);
  EXPECT_EQ(more.front().error().message,
            fmt::format("too many series: the memory limit is {} bytes "
                        "(storage.series_bytes_max)",
                        options.series_bytes_max));
  --options.series_bytes_max;
  reopen(options);
  const auto refused = run_task(select(nullptr));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("storage.series_bytes_max"));
}

}  // namespace
}  // namespace halite::storage
