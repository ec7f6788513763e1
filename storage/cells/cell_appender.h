// Appends batches of points as cells: makes rows and writes them in the background.
//
// Order. Of points of one series with equal times the later append wins, in whatever order writes
// finish. A batch whose points are all newer than their series' points since the start is written
// at once, in parallel with others. A batch with an older or repeated time is *late*: it waits for
// the earlier batches with its series. Cells get the store's time, which never goes backwards. A
// repeated point may need another qualifier than the point it replaces (OpenTSDB's depend on the
// type). Then the same row write deletes the old cell, or the clock has advanced by 1 ms. If the
// clock was set back, the cell gets an explicit time, 1 ms after all others.
//
//   Threads  call from any thread.
//   Stop     call drain(), then destroy it; running writes keep their data alive.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/clock.h"
#include "common/threads/semaphore.h"
#include "storage/api/point_store.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/series_table.h"
#include "storage/cells/layouts/row_layout.h"
#include "storage/cells/point_rows.h"

namespace prometheus {
class Counter;
class Gauge;
class Registry;
}  // namespace prometheus

namespace halite::storage {

struct AppendLimits {
  std::size_t in_flight_points_max = 500'000;
  std::size_t in_flight_bytes_max = 128 << 20;  // approximate memory of batches in flight
  std::int64_t late_max_ms = 0;  // older points are refused; 0 = limited by the table only
  // A late batch that has waited this long for others that then fail returns their error. Without
  // this limit, queued batches would each wait for the time limit of an unavailable store.
  std::int64_t turn_ms_max = 60'000;
  // A batch that has waited this long for space gets kOverloaded; 0 = no limit.
  std::int64_t room_ms_max = 60'000;
};

class CellAppender : public std::enable_shared_from_this<CellAppender> {
 public:
  // References must outlive the appender.
  struct Dependencies {
    std::shared_ptr<Table> table;
    Family family = 0;
    std::shared_ptr<const RowLayout> layout;
    const SeriesTable& series;
    const Clock& clock;
    boost::asio::any_io_executor executor;  // runs the background writes
    prometheus::Registry& registry;
    ColumnOptions columns = {};
  };
  CellAppender(Dependencies dependencies, AppendLimits limits);

  // See PointStore::append().
  Task<Accepted> append(PointBatch batch);

  // Waits until all accepted points are durable or have failed; returns the first error.
  Task<void> drain();

 private:
  // The last write to a series since the start.
  struct LastWrite {
    TimestampMs time = INT64_MIN;  // the newest
    ValueBits value = 0;           // the value at that time
    std::uint64_t batch = 0;       // the last with the series
    std::uint8_t flags = 0;
  };
  struct Ticket {
    std::uint64_t number = 0;
    Completion durable;
    bool late = false;               // contains older or repeated times
    TimestampMs since_ms = 0;        // when it was accepted
    std::vector<Completion> before;  // batches to wait for; only if late
    std::vector<ReplacedPoint> replaced;
  };
  struct Metrics {
    explicit Metrics(prometheus::Registry& registry);
    prometheus::Counter& points;
    prometheus::Counter& refused;
    prometheus::Counter& late_batches;
    prometheus::Counter& failed_writes;
    prometheus::Gauge& in_flight_points;
  };
  class PendingWrite;

  [[nodiscard]] Result<void> admit_time(TimestampMs time, TimestampMs now) const;
  [[nodiscard]] std::vector<std::uint32_t> admit(const PointBatch& batch,
                                                 std::vector<Refusal>& refused) const;
  Task<Semaphore::Permit> find_room(std::size_t points);
  [[nodiscard]] Ticket order_batch(const PointBatch& batch,
                                   const std::vector<std::uint32_t>& order);
  static boost::asio::awaitable<void> run(std::shared_ptr<CellAppender> self, PendingWrite flight);
  Task<void> write(PendingWrite& flight);
  Task<TimestampMs> after_all_completed();
  void completed(std::uint64_t number);

  const Dependencies dependencies_;
  const PointRows point_rows_;
  const std::shared_ptr<Semaphore> semaphore_;
  const std::int64_t late_max_ms_;
  const std::int64_t turn_ms_max_;
  const std::int64_t room_ms_max_;
  Metrics metrics_;

  std::mutex mutex_;
  std::deque<LastWrite> tails_;                         // by series id; guarded by mutex_
  std::uint64_t next_number_ = 1;                       // guarded by mutex_
  std::map<std::uint64_t, Completion> pending_writes_;  // running; guarded by mutex_
  TimestampMs last_completed_ms_ = 0;                   // guarded by mutex_
};

}  // namespace halite::storage
