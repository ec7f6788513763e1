// Newest points of many series: where they are looked for, and how much of it at a time.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "storage/tsdb/read/last_points.h"
#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

using engine::kLastHerePoints;
using engine::kLastHereSeries;
using engine::kLastJobSeries;
using engine::kLastPieceSeries;
using test::run_task;

// Counts how often it is asked, by whom, and does something on the way.
class AskedBudget final : public WorkBudget {
 public:
  using Step = std::function<void(std::size_t)>;
  explicit AskedBudget(Step step) : step_(std::move(step)) {}

  [[nodiscard]] Result<void> check() const override {
    if (!begun_) return {};
    std::atomic<std::size_t>& asked = std::this_thread::get_id() == maker_ ? here_ : elsewhere_;
    ++asked;
    if (step_) step_(here_ + elsewhere_);
    return {};
  }
  [[nodiscard]] Result<void> check_series(std::uint64_t /*more*/) const override { return {}; }
  [[nodiscard]] Result<void> add_bytes(std::int64_t /*count*/) override { return {}; }

  // From now on.
  void begin() {
    here_ = elsewhere_ = 0;
    begun_ = true;
  }
  [[nodiscard]] std::size_t here() const { return here_; }  // by the thread that made it
  [[nodiscard]] std::size_t elsewhere() const { return elsewhere_; }

 private:
  const std::thread::id maker_ = std::this_thread::get_id();
  const Step step_;
  std::atomic<bool> begun_ = false;
  mutable std::atomic<std::size_t> here_ = 0;
  mutable std::atomic<std::size_t> elsewhere_ = 0;
};

class EngineLastTest : public testing::Test {
 protected:
  void open(std::uint32_t shards) {
    world_.layout.salt_buckets = shards;
    world_.layout.ttl_ms = 30 * kDayMs;
    world_.options.log.commit_interval_ms = 0;
    world_.options.auto_maintenance = false;
    ASSERT_TRUE(world_.open());
  }
  void TearDown() override {
    if (world_.points != nullptr) EXPECT_TRUE(world_.close());
  }

  void make_series(std::size_t count) {
    std::vector<std::string> hosts;
    for (std::size_t i = 0; i < count; ++i) hosts.push_back(fmt::to_string(i));
    ids_ = world_.intern(hosts).value();
    std::ranges::sort(ids_);
  }
  // A point of each series.
  void put(TimestampMs time) {
    PointBatch batch;
    for (const SeriesId id : ids_) batch.add(id, time, integer_bits(time), 0);
    ASSERT_TRUE(run_task(world_.points->append(std::move(batch))));
  }
  void flush() { ASSERT_TRUE(run_task(world_.points->flush())); }

  // The watch counts from when the series are selected.
  PinnedLastPoints last(const std::shared_ptr<AskedBudget>& budget) {
    SeriesQuery query;
    query.metric = "m";
    const auto selection =
        run_task(world_.points->select(std::move(query), {.budget = budget})).value();
    budget->begin();
    return run_task(world_.points->last(selection, {.begin = 0, .end = INT64_MAX})).value();
  }
  PinnedLastPoints last() { return last(std::make_shared<AskedBudget>(nullptr)); }

  void expect_all_at(const PinnedLastPoints& points, TimestampMs time) {
    ASSERT_EQ(points.size(), ids_.size());
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      ASSERT_EQ(points[i].series, ids_[i]);
      ASSERT_EQ(points[i].time, time);
    }
  }

  static std::size_t pieces(std::size_t series) {
    return (series + kLastPieceSeries - 1) / kLastPieceSeries;
  }

  test::EngineWorld world_{1, kMidnight + kHourMs};
  std::vector<SeriesId> ids_;
};

TEST_F(EngineLastTest, few_series_in_memory_are_looked_for_where_it_is_asked) {
  open(1);
  make_series(kLastHereSeries);
  put(kMidnight);
  last();  // reads that nothing is stored
  const auto budget = std::make_shared<AskedBudget>(nullptr);
  expect_all_at(last(budget), kMidnight);
  EXPECT_EQ(budget->here(), pieces(kLastHereSeries));
  EXPECT_EQ(budget->elsewhere(), 0U);
}

TEST_F(EngineLastTest, one_series_more_is_looked_for_on_the_read_threads_in_pieces) {
  open(1);
  make_series(kLastHereSeries + 1);
  put(kMidnight);
  last();
  const auto budget = std::make_shared<AskedBudget>(nullptr);
  expect_all_at(last(budget), kMidnight);
  EXPECT_EQ(budget->here(), 0U);
  EXPECT_EQ(budget->elsewhere(), pieces(kLastHereSeries + 1));
}

TEST_F(EngineLastTest, many_are_looked_for_in_several_jobs) {
  open(3);
  make_series(kLastJobSeries + 1);
  put(kMidnight);
  const auto budget = std::make_shared<AskedBudget>(nullptr);
  expect_all_at(last(budget), kMidnight);
  EXPECT_EQ(budget->here(), 0U);
  put(kMidnight + 1);
  flush();
  expect_all_at(last(budget), kMidnight + 1);
  EXPECT_EQ(budget->here(), 0U);
  EXPECT_GE(budget->elsewhere(), pieces(kLastJobSeries + 1));
}

TEST_F(EngineLastTest, more_points_to_decode_are_left_to_the_read_threads) {
  open(2);  // what may be decoded is for all shards together
  make_series(8);
  constexpr std::uint64_t kLate = kLastHerePoints / 8;
  for (std::uint64_t i = 0; i < kLate; ++i) put(kMidnight + static_cast<TimestampMs>(i));
  put(kMidnight - 1);  // late: the newest is not the last to come
  last();
  const auto budget = std::make_shared<AskedBudget>(nullptr);
  expect_all_at(last(budget), kMidnight + static_cast<TimestampMs>(kLate) - 1);
  EXPECT_GT(budget->elsewhere(), 0U);
}

// What comes and is flushed between two pieces would wait for ever for a lock that is held, and
// would be missed by a view of what is stored that was kept from the piece before.
TEST_F(EngineLastTest, between_pieces_points_come_and_are_flushed) {
  open(1);
  constexpr std::size_t kPieces = kLastHereSeries / kLastPieceSeries + 1;
  make_series(kPieces * kLastPieceSeries);
  put(kMidnight);
  flush();
  // Nothing is known yet: it is asked before each piece and before each series of it is read.
  const auto budget = std::make_shared<AskedBudget>([this](std::size_t asked) {
    if (asked % (kLastPieceSeries + 1) != 1) return;
    put(kMidnight + static_cast<TimestampMs>(1 + asked / (kLastPieceSeries + 1)));
    flush();
  });
  const PinnedLastPoints points = last(budget);
  EXPECT_EQ(budget->here(), 0U);
  ASSERT_EQ(points.size(), ids_.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    ASSERT_EQ(points[i].time, kMidnight + static_cast<TimestampMs>(1 + i / kLastPieceSeries)) << i;
  }
  expect_all_at(last(), kMidnight + static_cast<TimestampMs>(kPieces));
}

}  // namespace
}  // namespace halite::storage
