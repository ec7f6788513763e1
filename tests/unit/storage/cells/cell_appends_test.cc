// Points on their way into cells: their order, how many may be under way, and writes that fail.
#include <chrono>
#include <future>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "tests/unit/storage/cells/cell_point_store_fixture.h"

namespace halite::storage {
namespace {

TEST_F(CellPointStoreTest, ArrivalOrderWinsWhateverOrderWritesFinishIn) {
  open();
  unruly_.delay_us_max = 2000;
  const std::vector<SeriesId> ids{intern("a"), intern("b"), intern("c")};
  std::mt19937 random(7);
  std::map<std::pair<SeriesId, TimestampMs>, double> expected;
  std::vector<Completion> durable;
  for (int round = 0; round < 400; ++round) {
    PointBatch batch;
    const SeriesId id = ids[random() % 3];
    const TimestampMs time = kHourBegin + 1000 * static_cast<TimestampMs>(random() % 20);
    const bool is_float = random() % 2 == 0;
    batch.add(id, time, is_float ? double_bits(round) : integer_bits(round), is_float ? kFloat : 0);
    expected[{id, time}] = round;
    durable.push_back(run_task(points_->append(std::move(batch))).value().durable);
  }
  ASSERT_TRUE(run_task(points_->flush()));
  for (const Completion& each : durable) EXPECT_TRUE(each.finished());
  for (const char* value : {"a", "b", "c"}) {
    SeriesQuery query;
    query.metric = "m";
    query.filters = {{FilterType::kLiteralOr, "host", value}};
    const auto selection = run_task(points_->select(query, {})).value();
    const auto scan = points_->scan(selection, {0, kNow}, 0);
    for (;;) {
      const auto blocks = run_task(scan->next()).value();
      if (blocks.empty()) break;
      for (const Block& block : blocks) {
        for (std::size_t i = 0; i < block.size(); ++i) {
          const double found = block.floats[i] ? as_double(block.values[i])
                                               : static_cast<double>(as_integer(block.values[i]));
          EXPECT_EQ(found, (expected.at({block.series, block.times[i]})));
          expected.erase({block.series, block.times[i]});
        }
      }
    }
  }
  EXPECT_TRUE(expected.empty());
}

// Wide and narrow integers take turns, each in a cell of its own, often within one millisecond.
TEST_F(CellPointStoreTest, AnOldTimeWrittenAgainHoldsTheLastValue) {
  open();
  const SeriesId id = intern("a");
  const auto append = [this, id](TimestampMs time, std::int64_t value) {
    const Accepted accepted = run_task(points_->append(one(id, time, value))).value();
    ASSERT_TRUE(run_task(accepted.durable.wait()));
  };
  append(kNow, 0);
  for (std::int64_t i = 0; i < 100; ++i) {
    append(kNow - 1000, 1000);
    append(kNow - 1000, i);
    ASSERT_EQ(read({kNow - 1000, kNow}),
              (std::map<TimestampMs, double>{{kNow - 1000, static_cast<double>(i)}}));
  }
}

// The clock was set back: for a while all cells get one and the same time, the newest there was.
TEST_F(CellPointStoreTest, AnOldTimeWrittenAgainHoldsTheLastValueWhenTheClockWentBack) {
  FakeClock clock(kNow);
  MemoryStore cells(clock);
  const std::shared_ptr<const OpentsdbLayout> layout = OpentsdbLayout::make(unsalted()).value();
  CellPointStore::Dependencies dependencies{
      cells, layout, layout->parameters(), clock, background_.get_executor(), metrics_};
  const auto points = run_task(CellPointStore::open(dependencies, {})).value();
  const SeriesId id = intern(*points, "a");
  const auto append = [&points, id](TimestampMs time, std::int64_t value) {
    const Accepted accepted = run_task(points->append(one(id, time, value))).value();
    ASSERT_TRUE(run_task(accepted.durable.wait()));
  };
  append(kNow, 0);
  for (const std::int64_t value : {1000, 1, 100'000, 2}) {
    clock.set(clock.now_ms() - 10'000);
    append(kNow - 1000, value);
    ASSERT_EQ(read(*points, {kNow - 1000, kNow}),
              (std::map<TimestampMs, double>{{kNow - 1000, static_cast<double>(value)}}));
  }
  ASSERT_TRUE(run_task(points->close()));
}

TEST_F(CellPointStoreTest, FreshPointsAreWrittenSideBySide) {
  executor_ = by_hand_.get_executor();
  open();
  const SeriesId id = intern("a");
  unruly_.hold();
  std::vector<Completion> durable;
  for (int i = 0; i < 10; ++i) {
    durable.push_back(run_task(points_->append(one(id, kNow + i, i))).value().durable);
  }
  // A late one waits for those before it and holds back nobody after it.
  const Completion late = run_task(points_->append(one(id, kNow, 99))).value().durable;
  durable.push_back(run_task(points_->append(one(id, kNow + 10, 10))).value().durable);
  run_ready();
  EXPECT_EQ(unruly_.writes, 11);
  EXPECT_FALSE(late.finished());
  unruly_.release();
  run_all();
  EXPECT_EQ(unruly_.writes, 12);
  ASSERT_TRUE(run_task(late.wait()));
  for (const Completion& each : durable) ASSERT_TRUE(run_task(each.wait()));
  EXPECT_EQ(read().at(kNow), 99);
}

class FullPipe : public CellPointStoreTest {
 protected:
  void expect_append_waits(const CellPointStoreOptions& options);
};

// The maximum is ten points.
void FullPipe::expect_append_waits(const CellPointStoreOptions& options) {
  executor_ = by_hand_.get_executor();
  open(options);
  const SeriesId id = intern("a");
  const auto ten = [id](TimestampMs from) {
    PointBatch batch;
    for (int i = 0; i < 10; ++i) batch.add(id, from + i, integer_bits(i), kMillis);
    return batch;
  };
  unruly_.hold();
  ASSERT_TRUE(run_task(points_->append(ten(kNow))));  // exactly the maximum
  auto more = boost::asio::co_spawn(by_hand_, points_->append(one(id, kNow + 100, 1)),
                                    boost::asio::use_future);
  auto last =
      boost::asio::co_spawn(by_hand_, points_->append(ten(kNow + 200)), boost::asio::use_future);
  run_ready();
  EXPECT_EQ(unruly_.writes, 1);
  EXPECT_EQ(more.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  unruly_.release();
  run_all();
  ASSERT_TRUE(more.get());
  ASSERT_TRUE(last.get());
  // One more than the maximum passes, alone.
  PointBatch large = ten(kNow + 300);
  large.add(id, kNow + 310, integer_bits(1), kMillis);
  ASSERT_TRUE(run_task(points_->append(std::move(large))));
  auto all = boost::asio::co_spawn(by_hand_, points_->append(one(id, kNow + 400, 1)),
                                   boost::asio::use_future);
  run_all();
  ASSERT_TRUE(all.get());
  EXPECT_EQ(read().size(), 33u);
}

TEST_F(FullPipe, MakesAppendWait) {
  CellPointStoreOptions options;
  options.append.in_flight_points_max = 10;
  expect_append_waits(options);
}

TEST_F(FullPipe, IsOneOfBytesToo) {
  CellPointStoreOptions options;
  options.append.in_flight_bytes_max = 10 * 256;  // 256 bytes a point
  expect_append_waits(options);
}

TEST_F(FullPipe, IsNotWaitedForTooLong) {
  CellPointStoreOptions options;
  options.append.in_flight_points_max = 1;
  options.append.room_ms_max = 20;
  executor_ = by_hand_.get_executor();
  open(options);
  const SeriesId id = intern("a");
  unruly_.hold();
  ASSERT_TRUE(run_task(points_->append(one(id, kNow, 1))));
  run_ready();
  const Result<Accepted> refused = run_task(points_->append(one(id, kNow + 1, 2)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kOverloaded);
  EXPECT_EQ(refused.error().message, "1 points are being written: no room within 20 ms");
  unruly_.release();
  run_all();
  ASSERT_TRUE(run_task(points_->append(one(id, kNow + 2, 3))));
  run_all();
  EXPECT_EQ(read().size(), 2u);
}

TEST_F(CellPointStoreTest, AFailedWriteIsTold) {
  open();
  const SeriesId id = intern("a");
  unruly_.fail = true;
  const Accepted accepted = run_task(points_->append(one(id, kNow, 1))).value();
  const Result<void> durable = run_task(accepted.durable.wait());
  ASSERT_FALSE(durable);
  EXPECT_EQ(durable.error().code, Errc::kUnavailable);
  EXPECT_EQ(durable.error().message, "the disk is full");
  unruly_.fail = false;
  const Accepted again = run_task(points_->append(one(id, kNow, 2))).value();
  ASSERT_TRUE(run_task(again.durable.wait()));
  EXPECT_EQ(read(), (std::map<TimestampMs, double>{{kNow, 2}}));
}

// While the store is away, each of many that wait for each other would take its whole time to fail.
TEST_F(CellPointStoreTest, AFailedWriteTakesAlongWhatHasWaitedTooLongForIt) {
  for (const bool too_long : {false, true}) {
    executor_ = by_hand_.get_executor();
    CellPointStoreOptions options;
    if (too_long) options.append.turn_ms_max = 0;
    open(std::move(options));
    const SeriesId id = intern("a");
    unruly_.hold();
    unruly_.fail = true;
    unruly_.writes = 0;
    const Completion first = run_task(points_->append(one(id, kNow, 1))).value().durable;
    const Completion late = run_task(points_->append(one(id, kNow, 2))).value().durable;
    run_ready();
    unruly_.release();
    run_all();
    EXPECT_EQ(unruly_.writes, too_long ? 1 : 2);
    for (const Completion& each : {first, late}) {
      ASSERT_TRUE(each.finished());
      const Result<void> outcome = run_task(each.wait());
      ASSERT_FALSE(outcome);
      EXPECT_EQ(outcome.error().code, Errc::kUnavailable);
      EXPECT_EQ(outcome.error().message, "the disk is full");
    }
    unruly_.fail = false;
    ASSERT_TRUE(run_task(points_->close()));
    points_.reset();
  }
}

}  // namespace
}  // namespace halite::storage
