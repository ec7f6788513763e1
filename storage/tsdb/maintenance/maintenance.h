// The engine's one owner of freezing, flushing, sealing, expiry and deletes: a thread that does one
// thing at a time.
//
//   Threads  any call from any thread.
//   Errors   a flush that fails is tried again; until one succeeds health() says why. The same for
//            the log's segments that are not needed any more after one.
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

#include "common/completion.h"
#include "storage/tsdb/chunk_db/yield.h"
#include "storage/tsdb/core/engine_context.h"
#include "storage/tsdb/maintenance/cpu_throttle.h"
#include "storage/tsdb/maintenance/expiry.h"
#include "storage/tsdb/maintenance/sealing.h"
#include "storage/tsdb/maintenance/series_gc.h"

namespace halite::storage::engine {

class Maintenance {
 public:
  Maintenance(std::shared_ptr<EngineContext> context, prometheus::Registry& registry);
  ~Maintenance();  // stop() was called, or nothing was asked

  void start();
  // Ends after what is under way; later requests are kUnavailable. Blocks.
  void stop();

  // Everything appended so far goes into chunks.
  [[nodiscard]] Completion flush();
  // And all chunks into their final form, also those of slots that are not over.
  [[nodiscard]] Completion seal();
  // Runs on the thread, after everything appended so far is in chunks.
  [[nodiscard]] Completion run_flushed(std::function<Result<void>()> job);
  // The same without the flush.
  [[nodiscard]] Completion run(std::function<Result<void>()> job);

  [[nodiscard]] SeriesGc& series_gc() { return series_gc_; }

  // Looks at once whether there is something to do.
  void wake();

  // Finishes with the flush under way or, where none is, the next.
  [[nodiscard]] Completion next_flush() const;
  [[nodiscard]] Result<void> health() const;

 private:
  struct Request {
    std::function<Result<void>()> job;  // after the flush; may be empty
    bool flushes = true;
    bool seals = false;  // it is sealing: not to be served while something is sealed
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
    prometheus::Counter& merged_bytes;
    prometheus::Gauge& write_amplification;
  };

  void work();
  void serve(Request request);
  // While something is sealed: serves what came meanwhile. False: the sealing should end.
  [[nodiscard]] bool serve_urgent();
  [[nodiscard]] Result<bool> yield(CpuThrottle& share);
  // As yield() of all of a core, but looks for something urgent only now and then.
  [[nodiscard]] Result<bool> yield_briefly();
  // Between them the thread works on something that a flush has to wait for.
  void busy_begins() { busy_since_ = std::chrono::steady_clock::now(); }
  void busy_ends();
  void run_cycle();
  void flush_due();
  [[nodiscard]] Result<void> collect_garbage(std::size_t steps_max);
  [[nodiscard]] bool wants_freeze() const;
  // Everything, or what earlier tries left.
  enum class FlushOf : std::uint8_t { kEverything, kFrozen };
  [[nodiscard]] Result<void> flush_all(FlushOf what);
  [[nodiscard]] Result<void> flush_frozen();
  void drop_log();
  Result<void> flushed(Result<void> outcome);
  Completion enqueue(Request request);
  // The first that need not wait for the end of sealing; the lock is held.
  [[nodiscard]] std::deque<Request>::iterator first_urgent();
  void set_gauges();

  const std::shared_ptr<EngineContext> context_;
  Sealing sealing_;
  SeriesGc series_gc_;
  Expiry expiry_;
  Metrics metrics_;
  const YieldFn yield_briefly_ = [this] { return yield_briefly(); };
  TimestampMs head_since_ms_;                         // only the thread uses it
  std::chrono::steady_clock::time_point busy_since_;  // only the thread uses it
  Sequence drop_log_upto_ = 0;  // what failed so far; 0 = nothing did. Only the thread uses it

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> requests_;  // the rest is guarded by mutex_
  Completion flushed_;            // of the next flush
  Result<void> health_;
  Result<void> log_dropped_;
  bool woken_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace halite::storage::engine
