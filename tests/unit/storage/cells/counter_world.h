// Counters and points in a RocksDB on a disk that loses what was not synced.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/thread_pool.hpp>
#include <prometheus/registry.h>

#include "common/clock.h"
#include "storage/backends/rocks/rocks_store.h"
#include "storage/cells/cell_point_store.h"
#include "storage/cells/counters/counter_store.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temp_dir.h"

namespace halite::test {

inline constexpr TimestampMs kCountersNow = 1'356'998'400'000 + 30 * kDayMs;

// By host and beginning of the bucket.
using Sums = std::map<std::pair<std::string, TimestampMs>, std::int64_t>;

class CounterWorld {
 public:
  // web.* has buckets of 1h (14d), 1d (400d) and all; others of 1m (7d).
  explicit CounterWorld(std::uint32_t seed = 1, std::size_t write_buffer_bytes = 64 << 20);
  ~CounterWorld();

  void cut_power() {
    files_->cut_power();
    close();
    files_->restore_power();
    open();
  }
  // As cut_power(), but what was written stays.
  void kill() {
    files_->cut_power();
    close();
    files_->restart_process();
    open();
  }
  std::unique_ptr<storage::CounterStore> open_counters(const storage::RowScanOptions& scan);

  static Result<storage::SeriesId> intern(const std::string& metric, const std::string& host,
                                          storage::PointSink& sink);
  storage::SeriesId counter(const std::string& metric, const std::string& host) {
    return intern(metric, host, *counters_).value();
  }
  // Waits for the outcome; returns the refusals.
  Result<std::vector<std::string>> try_add(storage::PointBatch batch, Bytes once = {});
  std::vector<std::string> add(storage::PointBatch batch, Bytes once = {}) {
    return try_add(std::move(batch), std::move(once)).value();
  }
  static storage::PointBatch one(storage::SeriesId id, TimestampMs time, std::int64_t delta) {
    storage::PointBatch batch;
    batch.add(id, time, static_cast<ValueBits>(delta), 0);
    return batch;
  }

  // What queries find in a bucket of the metric's rule; the sum of all time at kCountersNow.
  Sums sums(const std::string& metric, std::size_t bucket);

  FakeClock clock_{kCountersNow};
  TempDir dir_;
  std::shared_ptr<FaultyFiles> files_;
  boost::asio::thread_pool pool_{2};
  std::unique_ptr<prometheus::Registry> metrics_;
  std::unique_ptr<storage::RocksStore> cells_;
  std::unique_ptr<storage::CellPointStore> points_;
  std::unique_ptr<storage::CounterStore> counters_;

 private:
  void open();
  void close();

  const std::size_t write_buffer_bytes_;
};

}  // namespace halite::test
