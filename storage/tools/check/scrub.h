// Checks the table files of an open store in the background, again and again, to find damage before
// a query does.
//
// Does not read the write-ahead log: its content is in memory, and soon in tables.
//
//   Threads   has one thread; call from any.
//   Lifetime  the stores, the clock and the registry must outlive it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include "common/clock.h"
#include "common/result.h"
#include "storage/backends/rocks/files/live_files.h"
#include "storage/backends/rocks/inspect/damage.h"
#include "storage/backends/rocks/rocks_store.h"
#include "storage/files/files.h"
#include "storage/tools/check/check.h"
#include "storage/tools/check/report.h"
#include "storage/tools/check/table_checker.h"
#include "storage/tsdb/core/options.h"

namespace halite::storage::check {

struct ScrubOptions {
  std::uint64_t bytes_per_s = 8 << 20;        // maximum
  std::int64_t interval_ms = 7 * 86'400'000;  // between two passes; 0 = only on request
};

struct ScrubState {
  bool running = false;      // or requested and about to run
  TimestampMs began_ms = 0;  // the last pass; 0 = none
  TimestampMs ended_ms = 0;  // 0 = still running, or none
  Progress progress = {};    // of the last pass
  Report report = {};        // of the last pass, as far as it got
};

class Scrub {
 public:
  struct Dependencies {
    RocksStore& names;
    std::function<std::vector<rocks::LiveFile>()> chunk_files;  // empty: no chunks
    std::shared_ptr<FileSystem> files;
    EngineOptions engine;  // only the names of its tables are used
    const Clock& clock;
    prometheus::Registry& registry;
  };
  Scrub(Dependencies dependencies, ScrubOptions options);
  ~Scrub();  // stops a running pass
  Scrub(const Scrub&) = delete;

  // Begins a pass now, at the configured rate. kConflict: a pass is running.
  Result<void> begin();
  // Of the running pass, or of the last one.
  [[nodiscard]] ScrubState state() const;

 private:
  struct Table {
    rocks::LiveFile file;
    TableOf of = TableOf::kChunks;
  };
  void run(const std::stop_token& stop);
  void wait_for_turn(const std::stop_token& stop);
  void pass(const std::stop_token& stop);
  [[nodiscard]] std::vector<Table> tables() const;
  [[nodiscard]] bool is_live(const Table& table) const;
  [[nodiscard]] bool keep_pace(const std::stop_token& stop, std::size_t bytes);
  void report_finding(const Finding& finding);

  Dependencies dependencies_;
  const ScrubOptions options_;
  rocks::Damage damage_;
  prometheus::Counter& bytes_;
  prometheus::Counter& passes_;
  std::uint64_t ahead_bytes_ = 0;  // bytes read since the thread last slept

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool asked_ = false;  // guarded by mutex_, like state_
  ScrubState state_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace halite::storage::check
