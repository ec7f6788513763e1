// A scan gives out what it has read on the way, and counts what it holds meanwhile.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/threads/work_budget.h"
#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

constexpr std::int64_t kPointBytes = 17;
constexpr TimeRange kAlways = {.begin = 0, .end = kNow + kDayMs};

class Counter final : public WorkBudget {
 public:
  explicit Counter(std::int64_t bytes_max = INT64_MAX) : bytes_max_(bytes_max) {}
  [[nodiscard]] Result<void> check() const override { return {}; }
  [[nodiscard]] Result<void> check_series(std::uint64_t /*more*/) const override { return {}; }
  [[nodiscard]] Result<void> add_bytes(std::int64_t count) override {
    bytes_ += count;
    most_ = std::max(most_, bytes_);
    if (count > 0 && bytes_ > bytes_max_) return fail(Errc::kTooLarge, "too much");
    return {};
  }
  void begin() { most_ = bytes_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] std::int64_t most() const { return most_; }  // since begin()

 private:
  const std::int64_t bytes_max_;
  std::int64_t bytes_ = 0;
  std::int64_t most_ = 0;
};

class EngineScanTest : public testing::Test {
 protected:
  EngineScanTest() : world_(1, kNow) {
    world_.layout.salt_buckets = 1;
    world_.options.maintenance_ms = kHourMs;  // only when asked
  }
  void SetUp() override { ASSERT_TRUE(world_.open()); }
  void TearDown() override { EXPECT_TRUE(world_.close()); }

  // A point every step of so many series, up to now.
  void fill(std::size_t series, std::int64_t length_ms, std::int64_t step_ms) {
    std::vector<std::string> hosts;
    for (std::size_t i = 0; i < series; ++i) hosts.push_back(fmt::format("h{}", i));
    ids_ = world_.intern(hosts).value();
    begin_ = (kNow - length_ms) / kDayMs * kDayMs;
    for (const SeriesId id : ids_) {
      PointBatch batch;
      for (TimestampMs time = begin_; time < kNow; time += step_ms) {
        batch.add(id, time, integer_bits(time / step_ms % 1000 + id), 0);
      }
      points_ = batch.size();
      ASSERT_TRUE(test::run_task(world_.points->append(std::move(batch))));
    }
  }

  std::unique_ptr<BlockScan> scan(const std::shared_ptr<Counter>& counter) {
    SeriesQuery query;
    query.metric = "m";
    const auto selection =
        test::run_task(world_.points->select(std::move(query), {.budget = counter}));
    counter->begin();
    return world_.points->scan(selection.value(), kAlways, 0);
  }

  // Reads on to the end: how many points each series has, in the order of their times.
  std::map<SeriesId, std::size_t> read(BlockScan& scan) {
    std::map<SeriesId, std::size_t> points;
    std::map<SeriesId, TimestampMs> newest;
    for (;;) {
      const auto blocks = test::run_task(scan.next());
      EXPECT_TRUE(blocks);
      if (!blocks || blocks->empty()) return points;
      for (const Block& block : *blocks) {
        if (block.times.empty()) continue;
        EXPECT_GT(block.times.front(), newest[block.series]);
        newest[block.series] = block.times.back();
        points[block.series] += block.size();
      }
    }
  }

  void expect_all(const std::map<SeriesId, std::size_t>& found) {
    EXPECT_EQ(found.size(), ids_.size());
    for (const auto& [id, points] : found) EXPECT_EQ(points, points_) << id;
  }

  test::EngineWorld world_;
  std::vector<SeriesId> ids_;
  std::size_t points_ = 0;  // of each
  TimestampMs begin_ = 0;
};

TEST_F(EngineScanTest, LongRangeIsGivenOutSlotBySlot) {
  fill(8, 12 * kDayMs, 60'000);
  ASSERT_TRUE(test::run_task(world_.points->flush()));
  const auto counter = std::make_shared<Counter>();
  const std::int64_t selected = counter->bytes();
  auto scan = this->scan(counter);
  const auto first = test::run_task(scan->next());
  ASSERT_TRUE(first);
  ASSERT_FALSE(first->empty());
  for (const Block& block : *first) {
    EXPECT_LT(block.times.back(), begin_ + kDayMs);
  }
  scan = this->scan(counter);
  expect_all(read(*scan));
  const auto all = static_cast<std::int64_t>(ids_.size() * points_) * kPointBytes;
  EXPECT_GT(counter->most(), all / 40);
  EXPECT_LT(counter->most(), all / 6);
  scan.reset();
  EXPECT_EQ(counter->bytes(), selected);
}

TEST_F(EngineScanTest, DenseSeriesOfTheHeadAreReadFewAtATime) {
  fill(6, kDayMs, 1500);
  const auto counter = std::make_shared<Counter>();
  auto scan = this->scan(counter);
  expect_all(read(*scan));
  const auto all = static_cast<std::int64_t>(ids_.size() * points_) * kPointBytes;
  EXPECT_GT(counter->most(), all / 6);
  EXPECT_LT(counter->most(), all);
}

TEST_F(EngineScanTest, MoreThanMayBeHeldIsRefused) {
  fill(4, kDayMs, 5'000);
  for (const bool flushed : {false, true}) {
    if (flushed) ASSERT_TRUE(test::run_task(world_.points->flush()));
    const auto counter = std::make_shared<Counter>(static_cast<std::int64_t>(points_) * 8);
    const auto blocks = test::run_task(scan(counter)->next());
    ASSERT_FALSE(blocks) << flushed;
    EXPECT_EQ(blocks.error().code, Errc::kTooLarge);
    EXPECT_EQ(counter->bytes(), 0);
  }
}

}  // namespace
}  // namespace halite::storage
