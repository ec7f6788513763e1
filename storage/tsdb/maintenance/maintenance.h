// The maintenance thread. It alone freezes, flushes, seals, expires, applies deletes and collects
// garbage, one task at a time.
//
//   Threads  call from any thread.
//   Errors   a failed flush is retried; until one succeeds health() returns the reason. The same
//            applies to the truncation of the write-ahead log after a flush.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include <prometheus/registry.h>

#include "common/threads/completion.h"
#include "storage/tsdb/chunk_db/yield.h"
#include "storage/tsdb/core/engine_context.h"
#include "storage/tsdb/maintenance/cpu_throttle.h"
#include "storage/tsdb/maintenance/expiry.h"
#include "storage/tsdb/maintenance/sealing.h"
#include "storage/tsdb/maintenance/series_gc.h"
#include "storage/tsdb/maintenance/series_unloader.h"

namespace halite::storage::engine {

class Maintenance {
 public:
  Maintenance(std::shared_ptr<EngineContext> context, prometheus::Registry& registry);
  ~Maintenance();  // call stop() first, unless it was never started

  void start();
  // Stops after the current work; later requests are kUnavailable. Blocks.
  void stop();

  // Flushes everything appended so far into chunks.
  [[nodiscard]] Completion flush();
  // Flushes, and seals all slots, including those that have not ended.
  [[nodiscard]] Completion seal();
  // Runs the job on the thread, after it flushed everything appended so far.
  [[nodiscard]] Completion run_flushed(std::function<Result<void>()> job);
  // As run_flushed(), without the flush.
  [[nodiscard]] Completion run(std::function<Result<void>()> job);

  [[nodiscard]] SeriesGc& series_gc() { return series_gc_; }

  // Starts a maintenance cycle now.
  void wake();

  // Finishes with the current flush or, if none is running, the next one.
  [[nodiscard]] Completion next_flush() const;
  [[nodiscard]] Result<void> health() const;

 private:
  struct Request {
    std::function<Result<void>()> job;  // after the flush; may be empty
    bool flushes = true;
    bool seals = false;  // it seals: must wait for the end of a running sealing
    Completion done;
  };
  struct Metrics {
    explicit Metrics(prometheus::Registry& registry);
    prometheus::Counter& flushes;
    prometheus::Counter& flushed_points;
    prometheus::Counter& flushed_bytes;
    prometheus::Counter& failed_flushes;
    prometheus::Gauge& head_bytes;
    prometheus::Gauge& head_points;
    prometheus::Gauge& chunk_bytes;
    prometheus::Gauge& chunk_files;
    prometheus::Counter& cycles;
    prometheus::Counter& yields;
    prometheus::Gauge& busy_seconds_max;
    prometheus::Counter& flushed_file_bytes;
    prometheus::Counter& state_bytes;
    prometheus::Counter& merged_bytes;
    prometheus::Gauge& write_amplification;
  };

  void work();
  void serve(Request request);
  // Serves new requests during sealing. False: the sealing should end.
  [[nodiscard]] bool serve_urgent();
  [[nodiscard]] Result<bool> yield(CpuThrottle& share);
  // As yield() with a full core, but checks for urgent work only now and then.
  [[nodiscard]] Result<bool> yield_briefly();
  // Mark the begin and end of work that delays flushes.
  void busy_begins() { busy_since_ = std::chrono::steady_clock::now(); }
  void busy_ends();
  void run_cycle();
  void flush_due();
  [[nodiscard]] Result<void> collect_garbage(std::size_t steps_max);
  [[nodiscard]] Result<bool> collect_some();
  [[nodiscard]] bool wants_freeze() const;
  // Everything, or only what earlier attempts left.
  enum class FlushOf : std::uint8_t { kEverything, kFrozen };
  [[nodiscard]] Result<void> flush_all(FlushOf what);
  [[nodiscard]] Result<void> flush_frozen();
  void drop_log();
  Result<void> flushed(Result<void> outcome);
  Completion enqueue(Request request);
  // The first request that need not wait for the end of sealing. Call with the lock held.
  [[nodiscard]] std::deque<Request>::iterator first_urgent();
  void set_gauges();

  const std::shared_ptr<EngineContext> context_;
  Sealing sealing_;
  SeriesGc series_gc_;
  SeriesUnloader unloader_;
  Expiry expiry_;
  Metrics metrics_;
  const YieldFn yield_briefly_ = [this] { return yield_briefly(); };
  TimestampMs head_since_ms_;                         // used by the thread only
  std::chrono::steady_clock::time_point busy_since_;  // used by the thread only
  Sequence drop_log_upto_ = 0;  // truncation to retry; 0 = none. Used by the thread only

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> requests_;  // guarded by mutex_, like all members below
  Completion flushed_;            // of the next flush
  Result<void> health_;
  Result<void> log_dropped_;
  bool woken_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace halite::storage::engine
