#include "storage/backends/hbase/client/scanner.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "storage/backends/hbase/client/region_scan.h"

namespace halite::storage::hbase {

namespace {

using std::chrono::milliseconds;
using Batch = Result<ScanBatch>;

constexpr const char* kClosed = "the HBase client is closed";
constexpr milliseconds kNoLease{std::chrono::hours(1)};

// Connects the coroutine that fetches, on a strand, with the caller on any executor.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(ClientContextPtr context, std::string table, ScanRequest request)
      : context_(std::move(context)),
        strand_(boost::asio::make_strand(context_->next_executor())),
        walk_(context_, std::move(table), std::move(request)) {}

  // The caller's side.
  Result<void> begin();
  Task<ScanBatch> next();
  void abandon();

 private:
  static boost::asio::awaitable<void> fetch(TaskTracker::TokenPtr token,
                                            std::shared_ptr<Exchange> self);
  boost::asio::awaitable<void> fetch_all();
  boost::asio::awaitable<void> wait_until_taken();
  void publish(Batch batch);
  void wake();
  [[nodiscard]] bool to_wait() const;
  [[nodiscard]] bool abandoned() const;

  const ClientContextPtr context_;
  const boost::asio::any_io_executor strand_;
  // Use these only on the strand.
  RegionScan walk_;
  std::optional<boost::asio::steady_timer> timer_;  // empty once fetching has ended

  mutable std::mutex mutex_;
  // mutex_ guards these.
  std::optional<Batch> ready_;
  std::optional<Completion> waiting_;  // a caller waits for ready_
  bool abandoned_ = false;
};

bool Exchange::to_wait() const {
  const std::lock_guard lock(mutex_);
  return ready_.has_value() && !abandoned_;
}

bool Exchange::abandoned() const {
  const std::lock_guard lock(mutex_);
  return abandoned_;
}

Result<void> Exchange::begin() {
  TaskTracker::TokenPtr token = context_->activity.token();
  const auto id = reinterpret_cast<std::uintptr_t>(this);
  auto hook = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->abandon();
  };
  if (token == nullptr || !context_->hooks.add(id, std::move(hook))) {
    return fail(Errc::kUnavailable, kClosed);
  }
  boost::asio::co_spawn(strand_, fetch(std::move(token), shared_from_this()),
                        boost::asio::detached);
  return {};
}

void Exchange::publish(Batch batch) {
  std::optional<Completion> waiting;
  {
    const std::lock_guard lock(mutex_);
    ready_ = std::move(batch);
    waiting = std::exchange(waiting_, std::nullopt);
  }
  if (waiting) waiting->finish({});
}

void Exchange::wake() {
  auto step = [self = shared_from_this()] {
    if (self->timer_) self->timer_->cancel();
  };
  boost::asio::post(strand_, std::move(step));
}

void Exchange::abandon() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  wake();
}

Task<ScanBatch> Exchange::next() {
  for (;;) {
    Completion arrived;
    std::optional<Batch> batch;
    {
      const std::lock_guard lock(mutex_);
      batch.swap(ready_);
      if (!batch) waiting_ = arrived;
    }
    if (batch) {
      wake();
      co_return *std::move(batch);
    }
    const Result<void> woken = co_await arrived.wait();
    static_cast<void>(woken);  // the received batch holds the error
  }
}

boost::asio::awaitable<void> Exchange::fetch(TaskTracker::TokenPtr token,
                                             std::shared_ptr<Exchange> self) {
  static_cast<void>(token);
  self->timer_.emplace(self->strand_);
  auto fetching = self->fetch_all();
  co_await std::move(fetching);
  self->timer_.reset();
  self->context_->hooks.remove(reinterpret_cast<std::uintptr_t>(self.get()));
}

boost::asio::awaitable<void> Exchange::fetch_all() {
  while (!abandoned() && !walk_.finished()) {
    Task<ScanBatch> walking = walk_.next();
    Batch batch = co_await std::move(walking);
    if (batch && batch->rows.empty()) continue;
    const bool failed = !batch;
    publish(std::move(batch));
    if (failed) co_return;
    auto waiting = wait_until_taken();
    co_await std::move(waiting);
  }
  if (abandoned()) {
    publish(fail(Errc::kUnavailable, kClosed));
    auto releasing = walk_.release();
    co_await std::move(releasing);
  } else {
    publish(ScanBatch());
  }
}

boost::asio::awaitable<void> Exchange::wait_until_taken() {
  milliseconds idle{0};
  while (to_wait()) {
    const milliseconds step = walk_.lease_ms() == 0 ? kNoLease : milliseconds(walk_.lease_ms() / 2);
    timer_->expires_after(step);
    auto ticking = timer_->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    const auto [problem] = co_await std::move(ticking);
    if (problem || !to_wait()) continue;
    idle += step;
    const bool for_long = idle >= milliseconds(context_->options.scanner_idle_ms_max);
    auto keeping = for_long ? walk_.release() : walk_.renew();
    co_await std::move(keeping);
  }
}

class FetchingScanner final : public Scanner {
 public:
  FetchingScanner(ClientContextPtr context, std::string table, ScanRequest request)
      : exchange_(
            std::make_shared<Exchange>(std::move(context), std::move(table), std::move(request))) {}
  FetchingScanner(const FetchingScanner&) = delete;
  ~FetchingScanner() override {
    if (begun_) exchange_->abandon();
  }

  Task<ScanBatch> next_packed() override {
    if (over_) co_return *over_;
    if (!begun_) {
      begun_ = true;
      const Result<void> begun = exchange_->begin();
      if (!begun) {
        over_ = std::unexpected(begun.error());
        co_return *over_;
      }
    }
    Task<ScanBatch> asking = exchange_->next();
    Batch batch = co_await std::move(asking);
    if (!batch || batch->rows.empty()) over_ = batch;
    co_return batch;
  }

 private:
  const std::shared_ptr<Exchange> exchange_;
  bool begun_ = false;
  std::optional<Batch> over_;  // the result of every further call
};

}  // namespace

Task<std::vector<Row>> Scanner::next() {
  Task<ScanBatch> asking = next_packed();
  CO_TRY(const ScanBatch batch, co_await std::move(asking));
  std::vector<Row> rows;
  rows.reserve(batch.rows.rows.size());
  auto family = batch.families.begin();
  for (const RowRef& packed : batch.rows.rows) {
    Row& row = rows.emplace_back();
    row.key = packed.key;
    row.cells.reserve(packed.end - packed.begin);
    for (std::size_t i = packed.begin; i < packed.end; ++i) {
      while (family + 1 != batch.families.end() && (family + 1)->cell <= i) ++family;
      const CellRef& cell = batch.rows.cells[i];
      row.cells.push_back(
          {Bytes(family->family), Bytes(cell.qualifier), Bytes(cell.value), cell.time});
    }
  }
  co_return rows;
}

std::unique_ptr<Scanner> make_scanner(ClientContextPtr context, std::string table,
                                      ScanRequest request) {
  return std::make_unique<FetchingScanner>(std::move(context), std::move(table),
                                           std::move(request));
}

}  // namespace halite::storage::hbase
