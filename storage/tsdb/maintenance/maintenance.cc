#include "storage/tsdb/maintenance/maintenance.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "common/metrics.h"
#include "common/threads/run_here.h"
#include "common/threads/thread_name.h"
#include "storage/tsdb/maintenance/flush.h"

namespace halite::storage::engine {
namespace {

// While sealing pauses, checks this often whether the head is old enough to be flushed.
constexpr std::chrono::milliseconds kPauseMax{100};
// Garbage collection steps in one cycle.
constexpr std::size_t kForgetSteps = 8;

// Rows and chunks consist of many small allocations, and the process would keep the freed memory.
// Takes a few milliseconds.
void give_back_memory() { ::malloc_trim(0); }

}  // namespace

Maintenance::Metrics::Metrics(prometheus::Registry& registry)
    : flushes(add_counter(registry, "halite_engine_flushes_total", "Heads flushed into chunks.")),
      flushed_points(add_counter(registry, "halite_engine_flushed_points_total",
                                 "Points flushed into chunks.")),
      flushed_bytes(add_counter(registry, "halite_engine_flushed_bytes_total",
                                "Bytes of chunks and keys written by flushes.")),
      failed_flushes(add_counter(registry, "halite_engine_failed_flushes_total",
                                 "Flushes that failed and were retried.")),
      head_bytes(
          add_gauge(registry, "halite_engine_head_bytes", "Approximate memory used by all heads.")),
      head_points(add_gauge(registry, "halite_engine_head_points", "Points in the active head.")),
      chunk_bytes(add_gauge(registry, "halite_engine_chunk_bytes", "Size of all chunk files.")),
      chunk_files(add_gauge(registry, "halite_engine_chunk_files", "Number of chunk files.")),
      cycles(add_counter(registry, "halite_engine_maintenance_rounds_total",
                         "Maintenance cycles completed.")),
      yields(add_counter(
          registry, "halite_engine_maintenance_breaths_total",
          "Times that sealing, expiry or garbage collection yielded to more urgent work.")),
      busy_seconds_max(add_gauge(registry, "halite_engine_maintenance_busy_seconds_max",
                                 "Longest time since start-up for which sealing, expiry, garbage "
                                 "collection, a delete or a snapshot could delay a flush.")),
      flushed_file_bytes(add_counter(registry, "halite_engine_flushed_file_bytes_total",
                                     "Bytes of files written by flushes and deletes.")),
      state_bytes(add_counter(registry, "halite_engine_state_bytes_total",
                              "Bytes of files that say what is flushed and sealed.")),
      merged_bytes(add_counter(registry, "halite_engine_merged_bytes_total",
                               "Bytes written by RocksDB compactions of chunk files.")),
      write_amplification(add_gauge(
          registry, "halite_engine_write_amplification",
          "Bytes written to chunk files by flushes, sealing and compactions, divided by the bytes "
          "written by flushes. Excludes the write-ahead log. 0 before the first flush.")) {}

Maintenance::Maintenance(std::shared_ptr<EngineContext> context, prometheus::Registry& registry)
    : context_(std::move(context)),
      sealing_(context_, registry),
      series_gc_(context_, registry),
      unloader_(context_, registry),
      expiry_(context_, series_gc_, registry),
      metrics_(registry),
      head_since_ms_(context_->clock.now_ms()) {}

Maintenance::~Maintenance() { stop(); }

void Maintenance::start() {
  thread_ = std::thread([this] {
    name_this_thread("maintenance");
    work();
  });
}

void Maintenance::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Completion Maintenance::enqueue(Request request) {
  Completion done = request.done;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      done.finish(fail(Errc::kUnavailable, "the store is closed"));
      return done;
    }
    requests_.push_back(std::move(request));
  }
  changed_.notify_all();
  return done;
}

Completion Maintenance::flush() { return enqueue({}); }

Completion Maintenance::seal() {
  auto job = [this]() -> Result<void> {
    TRY_VOID(expiry_.run_due(yield_briefly_));
    CpuThrottle all(CpuThrottle::kAll);
    TRY_VOID(sealing_.seal_everything([this, &all] { return yield(all); }));
    series_gc_.note_sealed();
    return collect_garbage(SIZE_MAX);
  };
  return enqueue({.job = std::move(job), .flushes = true, .seals = true, .done = {}});
}

Completion Maintenance::run_flushed(std::function<Result<void>()> job) {
  return enqueue({.job = std::move(job), .flushes = true, .seals = false, .done = {}});
}

Completion Maintenance::run(std::function<Result<void>()> job) {
  return enqueue({.job = std::move(job), .flushes = false, .seals = false, .done = {}});
}

void Maintenance::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (woken_) return;
    woken_ = true;
  }
  changed_.notify_all();
}

Completion Maintenance::next_flush() const {
  const std::lock_guard lock(mutex_);
  return flushed_;
}

Result<void> Maintenance::health() const {
  const std::lock_guard lock(mutex_);
  TRY_VOID(health_);
  return log_dropped_;
}

void Maintenance::work() {
  const auto pause = std::chrono::milliseconds(context_->options.maintenance_ms);
  std::unique_lock lock(mutex_);
  while (!stopping_ || !requests_.empty()) {
    if (requests_.empty()) {
      changed_.wait_for(lock, pause, [this] { return stopping_ || woken_ || !requests_.empty(); });
    }
    woken_ = false;
    if (requests_.empty()) {
      if (stopping_) break;
      lock.unlock();
      run_cycle();
    } else {
      Request request = std::move(requests_.front());
      requests_.pop_front();
      lock.unlock();
      serve(std::move(request));
    }
    lock.lock();
  }
}

void Maintenance::serve(Request request) {
  Result<void> outcome;
  if (request.flushes) outcome = flush_all(FlushOf::kEverything);
  busy_begins();
  if (outcome && request.job) outcome = request.job();
  busy_ends();
  set_gauges();
  request.done.finish(std::move(outcome));
}

std::deque<Maintenance::Request>::iterator Maintenance::first_urgent() {
  return std::ranges::find(requests_, false, &Request::seals);
}

void Maintenance::busy_ends() {
  const std::chrono::duration<double> busy = std::chrono::steady_clock::now() - busy_since_;
  if (busy.count() > metrics_.busy_seconds_max.Value()) {
    metrics_.busy_seconds_max.Set(busy.count());
  }
}

bool Maintenance::serve_urgent() {
  busy_ends();
  metrics_.yields.Increment();
  while (true) {
    std::unique_lock lock(mutex_);
    if (stopping_) return false;
    const auto urgent = first_urgent();
    if (urgent == requests_.end()) break;
    Request request = std::move(*urgent);
    requests_.erase(urgent);
    lock.unlock();
    serve(std::move(request));
  }
  // Failures are in health(), and the flush is retried.
  if (wants_freeze()) std::ignore = flush_all(FlushOf::kEverything);
  busy_begins();
  return true;
}

Result<bool> Maintenance::yield_briefly() {
  const auto busy = std::chrono::steady_clock::now() - busy_since_;
  if (busy < std::chrono::milliseconds(context_->options.maintenance_yield_ms)) return true;
  return !context_->closing && serve_urgent();
}

Result<bool> Maintenance::yield(CpuThrottle& share) {
  const auto flush_first = [this, &share] {
    const CpuThrottle::Excluded aside(share);  // otherwise heavy load would starve sealing
    return serve_urgent();
  };
  if (context_->closing || !flush_first()) return false;
  if (share.is_all()) return true;
  for (auto pause = share.pause_due(); pause.count() > 0; pause = share.pause_due()) {
    {
      std::unique_lock lock(mutex_);
      if (std::ranges::find(requests_, true, &Request::seals) != requests_.end()) return false;
      changed_.wait_for(lock, std::min(pause, kPauseMax),
                        [this] { return stopping_ || woken_ || !requests_.empty(); });
      woken_ = false;
    }
    busy_begins();
    if (!flush_first()) return false;
  }
  return true;
}

void Maintenance::flush_due() {
  const bool pending = !context_->head_list.frozen().empty();  // true: a flush failed
  // Failures are in health(), and the flush is retried.
  if (wants_freeze()) {
    std::ignore = flush_all(FlushOf::kEverything);
  } else if (pending) {
    std::ignore = flush_all(FlushOf::kFrozen);
  }
  if (drop_log_upto_ > 0) drop_log();
}

void Maintenance::run_cycle() {
  if (!context_->options.auto_maintenance) return set_gauges();
  flush_due();
  busy_begins();
  CpuThrottle share(context_->options.seal_cpu_percent);
  const auto sealed = sealing_.run_due([this, &share] { return yield(share); });
  if (!sealed && !context_->closing) {
    log::error("sealing failed: {}", sealed.error().message);
  }
  if (const auto expired = expiry_.run_due(yield_briefly_); !expired && !context_->closing) {
    log::error("removing expired slots failed: {}", expired.error().message);
  }
  if (const auto collected = collect_garbage(kForgetSteps); !collected && !context_->closing) {
    log::error("removing unused series failed: {}", collected.error().message);
  }
  busy_ends();
  set_gauges();
  metrics_.cycles.Increment();
}

// Runs steps until one would have to wait.
Result<void> Maintenance::collect_garbage(std::size_t steps_max) {
  for (std::size_t step = 0; step < steps_max; ++step) {
    TRY_VOID(context_->check_open());
    TRY(const bool more, collect_some());
    if (!more) return {};
    TRY_VOID(yield_or_stop(yield_briefly_));
  }
  return {};
}

// One of the two at a time, because removal candidates belong to one of them.
Result<bool> Maintenance::collect_some() {
  if (series_gc_.allowed() && (unloader_.busy() || !series_gc_.has_candidates())) {
    TRY(const bool more, unloader_.step(yield_briefly_));
    if (more || unloader_.busy()) return more;
  }
  return series_gc_.step(yield_briefly_);
}

bool Maintenance::wants_freeze() const {
  const HeadList& head_list = context_->head_list;
  if (head_list.active_points() == 0 && context_->log->last() == head_list.cut_position()) {
    return false;
  }
  const HeadLimits& limits = context_->head_limits;
  return head_list.active_is_full(limits.freeze_bytes(), context_->options) ||
         head_list.bytes() >= limits.bytes_max() ||  // writers wait for it
         context_->log->full() ||                    // flushing frees space
         context_->clock.now_ms() - head_since_ms_ >= context_->options.head_age_max_ms;
}

Result<void> Maintenance::flush_all(FlushOf what) {
  // First flushes what an earlier attempt left: while that fails, another frozen head would fail
  // too.
  if (!context_->head_list.frozen().empty()) {
    const Result<void> left = flush_frozen();
    if (!left || what == FlushOf::kFrozen) return flushed(left);
  }
  context_->head_list.freeze(*context_->log, std::max(context_->chunks->states.mark().flush_number,
                                                      context_->deletes.highest()));
  head_since_ms_ = context_->clock.now_ms();
  return flushed(flush_frozen());
}

Result<void> Maintenance::flush_frozen() {
  const SeriesTable& table = context_->registry.table();
  // Names and series must be in their tables before log segments with them are truncated.
  Result<void> outcome = run_here(context_->registry.flush_rows());
  if (outcome) outcome = context_->lost_names_check.note(context_->chunks->states);
  give_back_memory();
  if (!outcome) return outcome;
  for (const FrozenHead& frozen : context_->head_list.frozen()) {
    const TsuidOf tsuid_of = [&table, &frozen](std::uint32_t shard,
                                               std::uint32_t position) -> Bytes {
      return table.at(frozen.head->shard(shard).at(position).id).tsuid;
    };
    DirectSealing direct(*context_->chunks, sealing_.over_before(),
                         context_->options.seal_directly_bytes);
    const auto stats = flush_head(*frozen.head, *context_->retention, tsuid_of, frozen.log_position,
                                  context_->chunks->files, &context_->active_series, &direct);
    if (!stats) {
      outcome = std::unexpected(stats.error());
      break;
    }
    for (std::uint32_t shard = 0; shard < stats->newest.size(); ++shard) {
      context_->newest.flushed(shard, stats->newest[shard]);
    }
    unloader_.flushed(stats->newest);
    context_->head_list.drop_oldest();
    metrics_.flushes.Increment();
    metrics_.flushed_points.Increment(static_cast<double>(stats->points));
    metrics_.flushed_bytes.Increment(static_cast<double>(stats->bytes));
    sealing_.on_flush(stats->periods, !stats->changes.sealed_directly.empty());
    drop_log_upto_ = frozen.log_position;
    drop_log();
  }
  give_back_memory();
  return outcome;
}

// Failures are retried in the next cycle.
void Maintenance::drop_log() {
  Result<void> dropped = context_->log->truncate_upto(drop_log_upto_);
  if (dropped) {
    drop_log_upto_ = 0;
  } else {
    dropped.error().message =
        "cannot remove flushed records from the log: " + dropped.error().message;
  }
  const std::lock_guard lock(mutex_);
  if (!dropped && log_dropped_) log::error("{}", dropped.error().message);
  log_dropped_ = std::move(dropped);
}

// Records the result of a flush and informs waiters.
Result<void> Maintenance::flushed(Result<void> outcome) {
  if (!outcome) {
    metrics_.failed_flushes.Increment();
    log::error("a flush failed: {}", outcome.error().message);
  }
  Completion waiters;
  {
    const std::lock_guard lock(mutex_);
    std::swap(waiters, flushed_);
    health_ = outcome;
  }
  waiters.finish(outcome);
  return outcome;
}

void Maintenance::set_gauges() {
  metrics_.head_bytes.Set(static_cast<double>(context_->head_list.bytes()));
  metrics_.head_points.Set(static_cast<double>(context_->head_list.active_points()));
  metrics_.chunk_bytes.Set(static_cast<double>(context_->chunks->tables->bytes()));
  if (const auto files = context_->chunks->tables->file_count()) {
    metrics_.chunk_files.Set(static_cast<double>(*files));
  } else {
    log::warn("{}", files.error().message);
  }
  const FileBytes written = context_->chunks->tables->written();
  raise_to(metrics_.flushed_file_bytes, static_cast<double>(written.flushed));
  raise_to(metrics_.state_bytes, static_cast<double>(written.marks));
  raise_to(metrics_.merged_bytes, static_cast<double>(written.merged));
  metrics_.write_amplification.Set(written.amplification());
}

}  // namespace halite::storage::engine
