#include "storage/meta/objects/ts_tracker.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <prometheus/counter.h>

#include "common/check.h"
#include "common/gather.h"
#include "common/log.h"
#include "common/metrics.h"

namespace halite::storage {
namespace {

// Tasks created at a time, and rows per write.
constexpr std::size_t kSliceSeries = 4096;

// The first error, if any.
Result<void> first_error(const std::vector<Result<void>>& outcomes) {
  for (const Result<void>& outcome : outcomes) {
    if (!outcome) return outcome;
  }
  return {};
}

}  // namespace

TsTracker::TsTracker(Dependencies dependencies, TrackOptions options)
    : dependencies_(std::move(dependencies)),
      options_(options),
      failures_(add_counter(dependencies_.registry, "halite_meta_write_failures_total",
                            "Failed writes of counters and metadata objects. They are retried.")),
      names_dropped_(
          add_counter(dependencies_.registry, "halite_meta_names_dropped_total",
                      "New names that got no UIDMeta object because of meta.names_waiting_max.")),
      pages_((options.series_max + kPageSeries - 1) / kPageSeries) {}

TsTracker::~TsTracker() {
  for (const std::atomic<Page*>& chunk : pages_) delete chunk.load();
}

TsTracker::Counter32& TsTracker::slot(SeriesId id) {
  HALITE_CHECK(id < options_.series_max, "a series id of a larger store");
  std::atomic<Page*>& place = pages_[id / kPageSeries];
  Page* chunk = place.load(std::memory_order_acquire);
  if (chunk == nullptr) {
    auto fresh = std::make_unique<Page>();
    if (place.compare_exchange_strong(chunk, fresh.get(), std::memory_order_acq_rel)) {
      chunk = fresh.release();
    }
  }
  return (*chunk)[id % kPageSeries];
}

bool TsTracker::add(SeriesId id, std::uint32_t points) {
  const std::uint32_t before = slot(id).fetch_add(points, std::memory_order_relaxed);
  return (before & ~kKnown) == 0;
}

void TsTracker::count(std::span<const SeriesId> series) {
  if (!options_.series) return;
  std::vector<SeriesId> fresh;
  for (std::size_t i = 0; i < series.size();) {
    std::size_t end = i + 1;
    while (end < series.size() && series[end] == series[i]) ++end;
    if (add(series[i], static_cast<std::uint32_t>(end - i))) fresh.push_back(series[i]);
    i = end;
  }
  if (fresh.empty()) return;
  const std::lock_guard lock(mutex_);
  waiting_.insert(waiting_.end(), fresh.begin(), fresh.end());
}

void TsTracker::assigned(NameKind kind, std::uint64_t uid) {
  if (!options_.name_objects) return;
  const std::lock_guard lock(mutex_);
  if (names_.size() >= options_.names_waiting_max) {
    names_dropped_.Increment();
  } else {
    names_.push_back({kind, uid});
  }
}

void TsTracker::again(SeriesId id, std::uint32_t points) {
  failures_.Increment();
  if (!add(id, points)) return;
  const std::lock_guard lock(mutex_);
  waiting_.push_back(id);
}

Task<void> TsTracker::flush() {
  std::vector<Name> names;
  std::vector<SeriesId> ids;
  {
    const std::lock_guard lock(mutex_);
    names.swap(names_);
    ids.swap(waiting_);
  }
  // The rows of series and names must be durable before their metadata.
  if (const Result<void> settled = co_await dependencies_.names.flush_rows(); !settled) {
    const std::lock_guard lock(mutex_);
    names_.insert(names_.end(), names.begin(), names.end());
    waiting_.insert(waiting_.end(), ids.begin(), ids.end());
    co_return settled;
  }
  // Writes names first, because the object of a series shows theirs.
  const Result<void> named = co_await write_names(std::move(names));
  Result<void> written;
  for (std::size_t at = 0; at < ids.size(); at += kSliceSeries) {
    const std::size_t end = std::min(ids.size(), at + kSliceSeries);
    std::vector<SeriesId> slice(ids.begin() + static_cast<std::ptrdiff_t>(at),
                                ids.begin() + static_cast<std::ptrdiff_t>(end));
    Task<void> writing =
        options_.series_objects ? write_counters(std::move(slice)) : write_marks(std::move(slice));
    const Result<void> outcome = co_await std::move(writing);
    if (!outcome) written = outcome;
  }
  co_return named ? written : named;
}

Task<void> TsTracker::write_names(std::vector<Name> names) {
  Result<void> result;
  for (std::size_t at = 0; at < names.size(); at += kSliceSeries) {
    std::vector<Task<void>> tasks;
    const std::size_t end = std::min(names.size(), at + kSliceSeries);
    for (std::size_t i = at; i < end; ++i) tasks.push_back(write_name(names[i]));
    auto gathering = gather(std::move(tasks), options_.writes_at_once);
    const Result<void> outcome = first_error(co_await std::move(gathering));
    if (!outcome) result = outcome;
  }
  co_return result;
}

Task<void> TsTracker::write_name(Name name) {
  const std::int64_t now_s = dependencies_.clock.now_ms() / 1000;
  Result<void> written = co_await dependencies_.names.create(name.kind, name.uid, now_s);
  if (!written) {
    failures_.Increment();
    const std::lock_guard lock(mutex_);
    if (names_.size() < options_.names_waiting_max) names_.push_back(name);
  }
  co_return written;
}

// Sets the counters to 1 in one write; their cell time is the last arrival of a point.
Task<void> TsTracker::write_marks(std::vector<SeriesId> ids) {
  std::vector<Bytes> tsuids;
  for (const SeriesId id : ids) {
    slot(id).fetch_and(kKnown);
    tsuids.push_back(dependencies_.tsuid(id));
  }
  Result<void> written = co_await dependencies_.series.mark(std::move(tsuids));
  if (!written) {
    for (const SeriesId id : ids) again(id, 1);
  }
  co_return written;
}

Task<void> TsTracker::write_counters(std::vector<SeriesId> ids) {
  std::vector<Task<void>> tasks;
  for (const SeriesId id : ids) tasks.push_back(write_counter(id));
  auto gathering = gather(std::move(tasks), options_.writes_at_once);
  const std::vector<Result<void>> outcomes = co_await std::move(gathering);
  co_return first_error(outcomes);
}

Task<void> TsTracker::write_counter(SeriesId id) {
  const std::uint32_t before = slot(id).fetch_and(kKnown);
  const std::uint32_t points = before & ~kKnown;
  Result<void> written = co_await count_or_create(id, points, (before & kKnown) != 0);
  if (written) {
    slot(id).fetch_or(kKnown);
  } else {
    again(id, points);
  }
  co_return written;
}

// As in OpenTSDB: creates the object if there was no counter.
Task<void> TsTracker::count_or_create(SeriesId id, std::uint32_t points, bool known) {
  const Bytes tsuid = dependencies_.tsuid(id);
  if (options_.points) {
    CO_TRY(const std::int64_t sum, co_await dependencies_.series.count(tsuid, points));
    if (sum != points) co_return Result<void>();
    // The points are counted, so an error from here on must not count them again.
    const Result<void> created = co_await create(tsuid);
    if (!created) {
      failures_.Increment();
      log::warn("cannot create a TSMeta for series {}: {}", to_hex(tsuid), created.error().message);
    }
    co_return Result<void>();
  }
  if (known) co_return Result<void>();
  CO_TRY(const bool counted, co_await dependencies_.series.has_counter(tsuid));
  if (counted) co_return Result<void>();
  co_return co_await create(tsuid);
}

Task<void> TsTracker::create(const Bytes& tsuid) {
  TsMeta meta;
  meta.tsuid = to_hex(tsuid);
  meta.created_s = dependencies_.clock.now_ms() / 1000;
  CO_TRY(const bool fresh, co_await dependencies_.series.create(tsuid, std::move(meta), 1));
  if (!fresh || !dependencies_.created) co_return Result<void>();
  Task<void> telling = dependencies_.created(tsuid);
  co_return co_await std::move(telling);
}

void TsTracker::start(boost::asio::any_io_executor executor) {
  strand_.emplace(boost::asio::make_strand(executor));
  timer_.emplace(*strand_);
  ended_ = Completion();
  boost::asio::co_spawn(*strand_, run(), boost::asio::detached);
}

boost::asio::awaitable<void> TsTracker::run() {
  bool failing = false;
  while (!stopping_) {
    timer_->expires_after(std::chrono::milliseconds(options_.flush_interval_ms));
    auto waiting = timer_->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    static_cast<void>(co_await std::move(waiting));  // cancelled by stop()
    if (stopping_) break;
    const Result<void> flushed = co_await flush();
    if (!flushed && !failing) {
      log::warn("series' counters and objects were not written: {}", flushed.error().message);
    }
    failing = !flushed;
  }
  ended_.finish({});
}

Task<void> TsTracker::stop() {
  stopping_ = true;
  Completion cancelled = Completion::done();
  if (strand_) {
    cancelled = Completion();
    boost::asio::post(*strand_, [this, cancelled] {
      timer_->cancel();
      cancelled.finish({});
    });
  }
  // Both never fail.
  const Result<void> told = co_await cancelled.wait();
  const Result<void> ended = co_await ended_.wait();
  static_cast<void>(told);
  static_cast<void>(ended);
  timer_.reset();  // not in the destructor, because the executor may be gone by then
  strand_.reset();
  co_return co_await flush();
}

}  // namespace halite::storage
