// A CellPointStore over tables that can be slow, late or full.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "storage/backends/memory/memory_store.h"
#include "storage/cells/cell_point_store.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "tests/support/run_task.h"
#include "tests/support/unruly_store.h"

namespace halite::storage {

using test::run_task;

inline constexpr TimestampMs kNow = 1'700'000'000'000;
inline constexpr TimestampMs kHourBegin = kNow - kNow % 3'600'000;

class CellPointStoreTest : public testing::Test {
 protected:
  void TearDown() override {
    unruly_.release();
    if (points_ != nullptr) {
      const Result<void> closed = run_task(points_->close());
      EXPECT_TRUE(closed || closed.error().code == Errc::kUnavailable);
    }
    background_.join();
  }

  static OpentsdbOptions unsalted() { return OpentsdbOptions(); }

  Result<std::unique_ptr<CellPointStore>> try_open(OpentsdbOptions layout,
                                                   CellPointStoreOptions options) {
    std::shared_ptr<const OpentsdbLayout> made = OpentsdbLayout::make(layout).value();
    CellPointStore::Dependencies dependencies{unruly_store_, made,      made->parameters(),
                                              clock_,        executor_, metrics_};
    return run_task(CellPointStore::open(std::move(dependencies), std::move(options)));
  }
  void open(CellPointStoreOptions options = {}) {
    points_ = try_open(unsalted(), std::move(options)).value();
  }

  static SeriesName host(const std::string& value) { return {"m", {{"host", value}}}; }

  static SeriesId intern(CellPointStore& points, const std::string& value) {
    return run_task(points.intern({host(value)}, CreateNames())).value().front().value();
  }
  SeriesId intern(const std::string& value) { return intern(*points_, value); }

  static PointBatch one(SeriesId id, TimestampMs time, std::int64_t value) {
    PointBatch batch;
    batch.add(id, time, integer_bits(value), 0);
    return batch;
  }

  // time -> value as a double, of every series.
  static std::map<TimestampMs, double> read(CellPointStore& points, TimeRange range) {
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(points.select(query, {})).value();
    const auto scan = points.scan(selection, range, 0);
    std::map<TimestampMs, double> found;
    for (;;) {
      const auto blocks = run_task(scan->next()).value();
      if (blocks.empty()) return found;
      for (const Block& block : blocks) {
        for (std::size_t i = 0; i < block.size(); ++i) {
          found[block.times[i]] = block.floats[i]
                                      ? as_double(block.values[i])
                                      : static_cast<double>(as_integer(block.values[i]));
        }
      }
    }
  }
  std::map<TimestampMs, double> read(TimeRange range = {0, kNow + 3'600'000}) {
    return read(*points_, range);
  }

  std::shared_ptr<Table> data_table() {
    TableSpec spec;
    spec.name = "tsdb";
    spec.families = {FamilySpec{"t", 0}};
    return run_task(cells_.open_table(std::move(spec))).value();
  }

  SystemClock clock_;
  MemoryStore cells_{clock_};
  test::Unruly unruly_;
  test::UnrulyStore unruly_store_{cells_, "tsdb", unruly_};
  prometheus::Registry metrics_;
  boost::asio::thread_pool background_{4};
  // Instead of it, where a test runs the background by hand: run_ready() does all that can be done.
  boost::asio::io_context by_hand_;
  boost::asio::any_io_executor executor_ = background_.get_executor();
  void run_ready() {
    by_hand_.restart();
    by_hand_.poll();
  }
  void run_all() {  // to the end of everything begun
    by_hand_.restart();
    by_hand_.run();
  }
  std::unique_ptr<CellPointStore> points_;
};

}  // namespace halite::storage
