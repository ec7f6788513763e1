// Reads the tables of an open store over and over, slowly, and tells what of them is damaged before
// somebody asks for it.
//
// The log is not read: what is in it is in memory, and in tables soon.
//
//   Threads   one of its own; calls from any.
//   Lifetime  the stores, the clock and the registry outlive it.
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
  std::uint64_t bytes_per_s = 8 << 20;        // at most
  std::int64_t interval_ms = 7 * 86'400'000;  // from the end of one pass to the next; 0 = only when
                                              // asked
};

struct ScrubState {
  bool running = false;
  TimestampMs began_ms = 0;  // the last pass; 0 = there was none
  TimestampMs ended_ms = 0;  // 0 = it runs, or there was none
  Progress progress = {};    // of it
  Report report = {};        // of it, as far as it came
};

class Scrub {
 public:
  struct Dependencies {
    RocksStore& names;
    std::function<std::vector<rocks::LiveFile>()> chunk_files;  // empty: there are no chunks
    std::shared_ptr<FileSystem> files;
    EngineOptions engine;  // the names of its tables
    const Clock& clock;
    prometheus::Registry& registry;
  };
  Scrub(Dependencies dependencies, ScrubOptions options);
  ~Scrub();  // ends what runs
  Scrub(const Scrub&) = delete;
  Scrub& operator=(const Scrub&) = delete;

  // A pass begins now, at the same pace. kConflict: one is under way.
  Result<void> begin();
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
  std::uint64_t ahead_bytes_ = 0;  // read since the thread slept last

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool asked_ = false;  // guarded by mutex_, as is the state
  ScrubState state_;
  std::jthread thread_;  // the last: it uses the others
};

}  // namespace halite::storage::check
