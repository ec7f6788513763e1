// Points on their way into cells: batches become rows, rows are written in the background.
//
// Order. Of equal times of one series the point appended last wins, whatever order writes finish
// in. Points newer than any of their series since the start cannot meet an older write, so their
// batch is written at once, next to others. A batch with an older or repeated time is *late*: it
// waits for the batches before it that touch the same series. Cells get their time from the store,
// which never goes backwards; and where a repeated point needs another qualifier than the point it
// replaces (OpenTSDB's differ by type), the replaced cell is deleted in the same row write, or the
// clock has moved on by a millisecond; where it does not (it was set back), the cell brings its own
// time, a millisecond past all others.
//
//   Threads  any call from any thread.
//   Stop     drain(), then destroy; writes under way keep what they need alive.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/clock.h"
#include "common/semaphore.h"
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
  std::size_t in_flight_bytes_max = 128 << 20;  // of memory for them, about
  std::int64_t late_max_ms = 0;  // older points are refused; 0 = as old as the table takes
  // A late batch that has waited so long for others, which then could not be written, fails as they
  // did: while the store is away many behind each other would wait for its time limit in turn.
  std::int64_t turn_ms_max = 60'000;
  // Who has waited so long for room in flight gets kOverloaded; 0 = waits as long as it takes.
  std::int64_t room_ms_max = 60'000;
};

class CellAppender : public std::enable_shared_from_this<CellAppender> {
 public:
  // References outlive the appender.
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

  // As PointStore::append().
  Task<Accepted> append(PointBatch batch);

  // Waits until everything taken so far is durable, or has failed: then the first error.
  Task<void> drain();

 private:
  // What was last written to a series since the start.
  struct LastWrite {
    TimestampMs time = INT64_MIN;  // the newest
    ValueBits value = 0;           // and what it held
    std::uint64_t batch = 0;       // the last that touched the series
    std::uint8_t flags = 0;
  };
  struct Ticket {
    std::uint64_t number = 0;
    Completion durable;
    bool late = false;               // older or repeated times among its own
    TimestampMs since_ms = 0;        // when it was taken
    std::vector<Completion> before;  // to be waited for; only of a late batch
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
  std::map<std::uint64_t, Completion> pending_writes_;  // under way; guarded by mutex_
  TimestampMs last_completed_ms_ = 0;                   // guarded by mutex_
};

}  // namespace halite::storage
