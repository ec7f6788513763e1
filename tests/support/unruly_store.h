// A wide-column store whose writes to one table take a random while, fail, or are held back, and
// whose scans of it are slow.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "common/threads/completion.h"
#include "storage/api/wide_column.h"

namespace halite::test {

// What goes wrong; may be changed at any time.
struct Unruly {
  std::atomic<int> delay_us_max = 0;  // each write waits up to this
  std::atomic<bool> fail = false;
  std::atomic<int> scan_delay_ms = 0;      // each step of a scan waits so long
  std::atomic<bool> no_estimates = false;  // as of a store that cannot tell
  std::atomic<int> writes = 0;             // begun
  std::atomic<int> scans = 0;              // begun
  std::atomic<int> walks = 0;              // of those, the ones with a row filter
  // Somebody else's work, done once right before the next write. Set while nothing runs.
  std::function<Task<void>()> meanwhile;
  // The same, right before the next scan.
  std::function<void()> at_scan;
  // Writes wait for this one first.
  void hold() {
    const std::lock_guard lock(mutex);
    gate = Completion();
  }
  void release() { current().finish({}); }
  Completion current() {
    const std::lock_guard lock(mutex);
    return gate;
  }
  int random_delay_us() {
    const std::lock_guard lock(mutex);
    const int most = delay_us_max;
    return most == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(most));
  }

  std::mutex mutex;
  Completion gate = Completion::done();  // guarded by mutex
  std::mt19937 random{1};                // guarded by mutex
};

inline Task<void> wait_for_time(std::chrono::microseconds time) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  timer.expires_after(time);
  co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  co_return Result<void>();
}

class UnrulyScanner final : public storage::Scanner {
 public:
  UnrulyScanner(std::unique_ptr<storage::Scanner> inner, Unruly& unruly)
      : inner_(std::move(inner)), unruly_(unruly) {}

  Task<std::vector<storage::Row>> next(storage::ScanLimit limit) override {
    if (const int delay_ms = unruly_.scan_delay_ms; delay_ms > 0) {
      CO_TRY_VOID(co_await wait_for_time(std::chrono::milliseconds(delay_ms)));
    }
    co_return co_await inner_->next(limit);
  }

 private:
  const std::unique_ptr<storage::Scanner> inner_;
  Unruly& unruly_;
};

class UnrulyTable final : public storage::Table {
 public:
  UnrulyTable(std::shared_ptr<storage::Table> inner, Unruly& unruly)
      : inner_(std::move(inner)), unruly_(unruly) {}

  Task<void> write(std::vector<storage::RowWrite> rows) override {
    ++unruly_.writes;
    CO_TRY_VOID(co_await unruly_.current().wait());
    if (const int delay_us = unruly_.random_delay_us(); delay_us > 0) {
      CO_TRY_VOID(co_await wait_for_time(std::chrono::microseconds(delay_us)));
    }
    if (unruly_.fail) co_return fail(Errc::kUnavailable, "the disk is full");
    CO_TRY_VOID(co_await let_others());
    co_return co_await inner_->write(std::move(rows));
  }
  Task<storage::CasOutcome> replace_cell(Bytes row, storage::Family family, storage::Cell held,
                                         std::vector<storage::CellWrite> with) override {
    CO_TRY_VOID(co_await let_others());
    co_return co_await inner_->replace_cell(std::move(row), family, std::move(held),
                                            std::move(with));
  }
  Task<void> append(std::vector<storage::CellAppend> cells) override {
    return inner_->append(std::move(cells));
  }
  Task<std::vector<storage::Row>> read(std::vector<storage::RowRead> reads) override {
    return inner_->read(std::move(reads));
  }
  [[nodiscard]] TimestampMs newest_stamp() const override { return inner_->newest_stamp(); }
  std::unique_ptr<storage::Scanner> scan(storage::ScanSpec spec,
                                         const storage::ReadContext& context) override {
    ++unruly_.scans;
    if (spec.rows != nullptr) ++unruly_.walks;
    if (unruly_.at_scan) std::exchange(unruly_.at_scan, nullptr)();
    return std::make_unique<UnrulyScanner>(inner_->scan(std::move(spec), context), unruly_);
  }
  Task<storage::RangeEstimate> estimate(storage::Family family,
                                        std::vector<storage::KeyRange> ranges) override {
    if (unruly_.no_estimates) {
      return storage::Table::estimate(family, std::move(ranges));
    }
    return inner_->estimate(family, std::move(ranges));
  }
  Task<std::int64_t> increment(Bytes row, storage::Column column, std::int64_t delta) override {
    return inner_->increment(std::move(row), std::move(column), delta);
  }
  Task<storage::CasOutcome> compare_and_put(Bytes row, storage::Column column,
                                            std::optional<Bytes> expected, Bytes value) override {
    return inner_->compare_and_put(std::move(row), std::move(column), std::move(expected),
                                   std::move(value));
  }

 private:
  Task<void> let_others() {
    if (!unruly_.meanwhile) co_return Result<void>();
    Task<void> work = std::exchange(unruly_.meanwhile, nullptr)();
    co_return co_await std::move(work);
  }

  const std::shared_ptr<storage::Table> inner_;
  Unruly& unruly_;
};

class UnrulyStore final : public storage::WideColumnStore {
 public:
  UnrulyStore(storage::WideColumnStore& inner, std::string table, Unruly& unruly)
      : inner_(inner), table_(std::move(table)), unruly_(unruly) {}

  Task<std::shared_ptr<storage::Table>> open_table(storage::TableSpec spec) override {
    const bool ours = spec.name == table_;
    CO_TRY(std::shared_ptr<storage::Table> table, co_await inner_.open_table(std::move(spec)));
    if (ours) table = std::make_shared<UnrulyTable>(std::move(table), unruly_);
    co_return table;
  }
  Task<void> close() override { return inner_.close(); }

 private:
  storage::WideColumnStore& inner_;
  const std::string table_;
  Unruly& unruly_;
};

}  // namespace halite::test
