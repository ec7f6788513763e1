#include "storage/cells/cell_appender.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <prometheus/registry.h>

#include "common/check.h"
#include "common/metrics.h"

namespace halite::storage {
namespace {

namespace asio = boost::asio;

// Approximate memory of a row write with one cell until it is written.
constexpr std::size_t kPointBytes = 256;
// Maximum waits for a clock that stands still or was set back.
constexpr int kClockWaitsMax = 3;

bool in_order(const PointBatch& batch, const std::vector<std::uint32_t>& order) {
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::uint32_t a = order[i - 1];
    const std::uint32_t b = order[i];
    if (batch.series[a] > batch.series[b]) return false;
    if (batch.series[a] == batch.series[b] && batch.times[a] >= batch.times[b]) return false;
  }
  return true;
}

// Sorts by series, then time; of equal times keeps only the last appended.
void arrange(const PointBatch& batch, std::vector<std::uint32_t>& order) {
  if (in_order(batch, order)) return;
  std::ranges::sort(order, [&batch](std::uint32_t a, std::uint32_t b) {
    if (batch.series[a] != batch.series[b]) return batch.series[a] < batch.series[b];
    if (batch.times[a] != batch.times[b]) return batch.times[a] < batch.times[b];
    return a > b;
  });
  const auto same = [&batch](std::uint32_t a, std::uint32_t b) {
    return batch.series[a] == batch.series[b] && batch.times[a] == batch.times[b];
  };
  order.erase(std::ranges::unique(order, same).begin(), order.end());
}

}  // namespace

CellAppender::Metrics::Metrics(prometheus::Registry& registry)
    : points(add_counter(registry, "halite_storage_points_total",
                         "Points written to the cell store.")),
      refused(add_counter(registry, "halite_storage_points_refused_total",
                          "Points refused because their time is outside the table's range.")),
      late_batches(
          add_counter(registry, "halite_storage_late_batches_total",
                      "Batches with points at or before the newest time of their series.")),
      failed_writes(add_counter(registry, "halite_storage_failed_writes_total",
                                "Batches that could not be made durable.")),
      in_flight_points(add_gauge(registry, "halite_storage_in_flight_points",
                                 "Points accepted by the cell store that are not yet durable.")) {}

// A batch being written. Completes with an error if it is destroyed unfinished.
class CellAppender::PendingWrite {
 public:
  PendingWrite(std::shared_ptr<CellAppender> owner, Ticket ticket, PointWrites writes,
               std::size_t points, Semaphore::Permit pass)
      : writes_(std::move(writes)),
        points_(points),
        owner_(std::move(owner)),
        ticket_(std::move(ticket)),
        pass_(std::move(pass)) {}
  PendingWrite(PendingWrite&&) = default;
  PendingWrite& operator=(PendingWrite&&) = delete;
  ~PendingWrite() {
    if (owner_ != nullptr) land(fail(Errc::kCancelled, "the store was stopped"));
  }

  void land(Result<void> outcome) {
    const std::shared_ptr<CellAppender> owner = std::move(owner_);
    Metrics& metrics = owner->metrics_;
    if (outcome) {
      metrics.points.Increment(static_cast<double>(points_));
    } else {
      metrics.failed_writes.Increment();
    }
    metrics.in_flight_points.Decrement(static_cast<double>(points_));
    owner->completed(ticket_.number);
    pass_ = Semaphore::Permit();
    ticket_.durable.finish(std::move(outcome));
  }

  [[nodiscard]] PointWrites& writes() { return writes_; }
  [[nodiscard]] const std::vector<Completion>& before() const { return ticket_.before; }
  [[nodiscard]] bool late() const { return ticket_.late; }
  [[nodiscard]] TimestampMs since_ms() const { return ticket_.since_ms; }

 private:
  PointWrites writes_;
  std::size_t points_;
  std::shared_ptr<CellAppender> owner_;  // null once completed
  Ticket ticket_;
  Semaphore::Permit pass_;
};

CellAppender::CellAppender(Dependencies dependencies, AppendLimits limits)
    : dependencies_(std::move(dependencies)),
      point_rows_(dependencies_.layout, dependencies_.series, dependencies_.family,
                  dependencies_.columns),
      semaphore_(std::make_shared<Semaphore>(
          SemaphoreLoad{limits.in_flight_points_max, limits.in_flight_bytes_max})),
      late_max_ms_(limits.late_max_ms),
      turn_ms_max_(limits.turn_ms_max),
      room_ms_max_(limits.room_ms_max),
      metrics_(dependencies_.registry) {}

Result<void> CellAppender::admit_time(TimestampMs time, TimestampMs now) const {
  TRY_VOID(dependencies_.layout->admit(time, now));
  if (late_max_ms_ == 0 || time >= now - late_max_ms_) return {};
  return fail(
      Errc::kInvalidArgument,
      fmt::format("timestamp {} is more than {} ms old (hbase.late_max_ms)", time, late_max_ms_));
}

std::vector<std::uint32_t> CellAppender::admit(const PointBatch& batch,
                                               std::vector<Refusal>& refused) const {
  const TimestampMs now = dependencies_.clock.now_ms();
  const SeriesId known = dependencies_.series.size();
  std::vector<std::uint32_t> order;
  order.reserve(batch.size());
  for (std::uint32_t i = 0; i < batch.size(); ++i) {
    HALITE_CHECK(batch.series[i] < known, "a series id of another store");
    Result<void> admitted = admit_time(batch.times[i], now);
    if (admitted) {
      order.push_back(i);
    } else {
      refused.push_back(Refusal{i, std::move(admitted).error()});
    }
  }
  return order;
}

// Orders the batch among all others. There must be no await between this and the start of the
// write.
CellAppender::Ticket CellAppender::order_batch(const PointBatch& batch,
                                               const std::vector<std::uint32_t>& order) {
  Ticket ticket;
  std::uint64_t wait_for = 0;  // this batch and all before it
  const std::lock_guard lock(mutex_);
  ticket.number = next_number_++;
  for (const std::uint32_t i : order) {
    const SeriesId id = batch.series[i];
    if (id >= tails_.size()) tails_.resize(id + std::size_t{1});
    LastWrite& tail = tails_[id];
    if (batch.times[i] <= tail.time && tail.batch != ticket.number) {
      wait_for = std::max(wait_for, tail.batch);
    }
    if (batch.times[i] == tail.time) {
      ticket.replaced.push_back(ReplacedPoint{i, tail.value, tail.flags});
    }
    if (batch.times[i] >= tail.time) {
      tail.time = batch.times[i];
      tail.value = batch.values[i];
      tail.flags = batch.flags[i];
    }
    tail.batch = ticket.number;
  }
  ticket.late = wait_for > 0;
  ticket.since_ms = dependencies_.clock.now_ms();
  for (const auto& [number, durable] : pending_writes_) {
    if (number > wait_for) break;
    ticket.before.push_back(durable);
  }
  pending_writes_.emplace(ticket.number, ticket.durable);
  return ticket;
}

Task<Semaphore::Permit> CellAppender::find_room(std::size_t points) {
  const SemaphoreLoad load{points, points * kPointBytes};
  Result<Semaphore::Permit> pass =
      co_await semaphore_->enter(load, std::chrono::milliseconds(room_ms_max_));
  if (!pass && pass.error().code == Errc::kOverloaded) {
    co_return fail(Errc::kOverloaded,
                   fmt::format("{} points are being written: {}", semaphore_->under_way().items,
                               pass.error().message));
  }
  co_return pass;
}

Task<Accepted> CellAppender::append(PointBatch batch) {
  Accepted accepted;
  std::vector<std::uint32_t> order = admit(batch, accepted.refused);
  metrics_.refused.Increment(static_cast<double>(accepted.refused.size()));
  if (order.empty()) {
    accepted.durable = Completion::done();
    co_return accepted;
  }
  arrange(batch, order);
  CO_TRY(Semaphore::Permit pass, co_await find_room(order.size()));
  metrics_.in_flight_points.Increment(static_cast<double>(order.size()));
  Ticket ticket = order_batch(batch, order);
  if (ticket.late) metrics_.late_batches.Increment();
  accepted.durable = ticket.durable;
  PointWrites writes =
      point_rows_.make(batch, order, ticket.replaced, dependencies_.clock.now_ms());
  PendingWrite flight(shared_from_this(), std::move(ticket), std::move(writes), order.size(),
                      std::move(pass));
  asio::co_spawn(dependencies_.executor, run(shared_from_this(), std::move(flight)),
                 asio::detached);
  co_return accepted;
}

asio::awaitable<void> CellAppender::run(std::shared_ptr<CellAppender> self, PendingWrite flight) {
  Result<void> outcome = co_await self->write(flight);
  flight.land(std::move(outcome));
}

Task<void> CellAppender::write(PendingWrite& flight) {
  for (const Completion& before : flight.before()) {
    const Result<void> completed = co_await before.wait();
    // Ignores the error of an earlier batch until this batch's time limit.
    if (completed) continue;
    if (dependencies_.clock.now_ms() - flight.since_ms() >= turn_ms_max_) co_return completed;
  }
  PointWrites& writes = flight.writes();
  // An append column keeps the order of arrival.
  if (!writes.appends.empty()) {
    co_return co_await dependencies_.table->append(std::move(writes.appends));
  }
  // Also if all earlier batches are complete: that may have been in this millisecond.
  if (flight.late() && point_rows_.times_decide()) {
    CO_TRY(const TimestampMs time, co_await after_all_completed());
    for (RowWrite& row : writes.rows) {
      for (CellWrite& cell : row.puts) cell.time = time;
    }
  }
  co_return co_await dependencies_.table->write(std::move(writes.rows));
}

// A cell that replaces one in another form wins by its time in milliseconds. Returns 0 once the
// store's own time is late enough.
Task<TimestampMs> CellAppender::after_all_completed() {
  TimestampMs landed_ms = dependencies_.table->newest_stamp();
  {
    const std::lock_guard lock(mutex_);
    landed_ms = std::max(landed_ms, last_completed_ms_);
  }
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (int i = 0; i < kClockWaitsMax; ++i) {
    if (dependencies_.clock.now_ms() > landed_ms) co_return 0;
    timer.expires_after(std::chrono::milliseconds(1));
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  const std::lock_guard lock(mutex_);
  last_completed_ms_ = std::max(last_completed_ms_, landed_ms + 1);
  co_return landed_ms + 1;
}

void CellAppender::completed(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  pending_writes_.erase(number);
  last_completed_ms_ = std::max(last_completed_ms_, dependencies_.clock.now_ms());
}

Task<void> CellAppender::drain() {
  std::vector<Completion> under_way;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, durable] : pending_writes_) under_way.push_back(durable);
  }
  Result<void> outcome;
  for (const Completion& each : under_way) {
    Result<void> completed = co_await each.wait();
    if (!completed && outcome) outcome = std::move(completed);
  }
  co_return outcome;
}

}  // namespace halite::storage
