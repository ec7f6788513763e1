// The state that all calls of one client share, and their retries.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <prometheus/registry.h>

#include "common/threads/semaphore.h"
#include "storage/backends/hbase/client/cancellable_delays.h"
#include "storage/backends/hbase/locate/region_locator.h"
#include "storage/backends/hbase/locate/registry.h"
#include "storage/backends/hbase/locate/task_tracker.h"
#include "storage/backends/hbase/rpc/connection_pool.h"
#include "storage/backends/hbase/rpc/options.h"
#include "storage/backends/hbase/rpc/stats.h"

namespace halite::storage::hbase {

// Functions to call when the client closes. Call from any thread.
class CloseHooks {
 public:
  // Returns false if it is closed already; the hook will not be called.
  bool add(std::uint64_t id, std::function<void()> hook);
  void remove(std::uint64_t id);
  void run();

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::function<void()>> hooks_;  // guarded by mutex_
  bool closed_ = false;                                   // guarded by mutex_
};

// The members are thread-safe.
struct ClientContext {
  ClientContext(ClientOptions options, std::vector<boost::asio::any_io_executor> executors,
                prometheus::Registry& registry);

  // Never 0, which means "none" in HBase.
  [[nodiscard]] std::uint64_t nonce();
  // Returns 0.8 to 1.2 times `ms`, so that waiting calls do not all retry at once.
  [[nodiscard]] std::uint32_t jittered(std::uint64_t ms);
  [[nodiscard]] const boost::asio::any_io_executor& next_executor();

  const ClientOptions options;
  const std::vector<boost::asio::any_io_executor> executors;
  Stats stats;
  TaskTracker activity;
  CloseHooks hooks;
  ConnectionPool servers;
  const std::shared_ptr<CancellableDelays> pauses;
  const std::unique_ptr<ConnectionRegistry> registry;
  RegionLocator locator;
  const std::shared_ptr<Semaphore> operations;  // bytes of running writes and reads
  const std::uint64_t nonce_group;

 private:
  std::mutex random_mutex_;
  std::mt19937_64 random_;  // guarded by random_mutex_
  std::atomic<std::size_t> next_executor_ = 0;
};
using ClientContextPtr = std::shared_ptr<ClientContext>;

// What an operation concerns. If HBase refuses rows (no table, disabled table, no right, no space),
// the sender is not at fault: the error is kUnavailable, so that senders keep the points. Table
// operations return the specific error.
enum class Subject : std::uint8_t { kRows, kTables };

// The time and the attempts of one operation. One coroutine at a time.
class Retry {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  // No attempt begins after `end`.
  Retry(ClientContextPtr context, std::uint32_t limit_ms, Subject about,
        TimePoint end = TimePoint::max());

  // The time limit of one more call: call_ms_max, or the rest of the time. At least 1.
  [[nodiscard]] std::uint32_t call_ms() const;

  // Waits as the fault requires; on success, try again. An error: no attempt is left.
  Task<void> after(const Fault& fault);

  // Resets pauses and time limit after progress. `end` stays.
  void progress();

 private:
  const ClientContextPtr context_;
  const std::uint32_t limit_ms_;
  const Subject subject_;
  const TimePoint end_;
  TimePoint deadline_;
  unsigned attempts_ = 0;
  unsigned at_once_ = 0;  // consecutive
  unsigned limited_ = 0;  // faults with a tries_max since the last progress
};

}  // namespace halite::storage::hbase
