// What all calls of one client share, and how they try again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <prometheus/registry.h>

#include "common/semaphore.h"
#include "storage/backends/hbase/client/cancellable_delays.h"
#include "storage/backends/hbase/locate/region_locator.h"
#include "storage/backends/hbase/locate/registry.h"
#include "storage/backends/hbase/locate/task_tracker.h"
#include "storage/backends/hbase/rpc/connection_pool.h"
#include "storage/backends/hbase/rpc/options.h"
#include "storage/backends/hbase/rpc/stats.h"

namespace halite::storage::hbase {

// What is to be told when the client closes. Any call from any thread.
class CloseHooks {
 public:
  // False: it is closed already, the hook will not be called.
  bool add(std::uint64_t id, std::function<void()> hook);
  void remove(std::uint64_t id);
  void run();

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::function<void()>> hooks_;  // guarded by mutex_
  bool closed_ = false;                                   // guarded by mutex_
};

// Members are safe by themselves.
struct ClientContext {
  ClientContext(ClientOptions options, std::vector<boost::asio::any_io_executor> executors,
                MakeTransport transport, prometheus::Registry& registry);

  // Not 0, which means none to HBase.
  [[nodiscard]] std::uint64_t nonce();
  // 0.8 to 1.2 of it, so that many who wait for the same do not come back together.
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
  const std::shared_ptr<Semaphore> operations;  // bytes of writes and reads under way
  const std::uint64_t nonce_group;

 private:
  std::mutex random_mutex_;
  std::mt19937_64 random_;  // guarded by random_mutex_
  std::atomic<std::size_t> next_executor_ = 0;
};
using ClientContextPtr = std::shared_ptr<ClientContext>;

// What an operation is about. Whoever has rows to write or to read is not to blame where HBase
// refuses it (no table, a disabled one, no right, no room): that is kUnavailable, so that nobody
// drops points for it. Who asks about tables is told which it is.
enum class Subject : std::uint8_t { kRows, kTables };

// One operation's time and attempts. For one coroutine at a time.
class Retry {
 public:
  Retry(ClientContextPtr context, std::uint32_t limit_ms, Subject about);

  // What one more call may take: call_ms_max, or what is left. At least 1.
  [[nodiscard]] std::uint32_t call_ms() const;

  // Waits as the fault wishes, then it is worth another attempt. Its error: there is none.
  Task<void> after(const Fault& fault);

  // Things went on: pauses begin small again, and there is as much time as at first.
  void progress();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  const ClientContextPtr context_;
  const std::uint32_t limit_ms_;
  const Subject about_;
  TimePoint deadline_;
  unsigned attempts_ = 0;
  unsigned at_once_ = 0;  // in a row
  unsigned limited_ = 0;  // faults that have a tries_max, since there was progress
};

}  // namespace halite::storage::hbase
