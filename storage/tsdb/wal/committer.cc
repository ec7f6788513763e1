// The committer's thread: when to commit, and how.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/log.h"
#include "storage/tsdb/wal/format.h"
#include "storage/tsdb/wal/log_impl.h"

namespace halite::storage {

using log_format::Group;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr std::size_t kBuffersKept = 4;
constexpr auto kGatherMin = std::chrono::microseconds(500);
constexpr auto kGatherMax = milliseconds(1);
constexpr std::size_t kBufferBytesKept = 16 << 20;

Error unavailable(const Error& cause, std::string_view what) {
  return {Errc::kUnavailable, fmt::format("{}: {}", what, cause.message), cause.details};
}

}  // namespace

bool Log::Impl::has_work() const { return groups_.front()->has_work(); }

bool Log::Impl::has_cut() const {
  if (failed_ || full_) return false;
  return std::ranges::any_of(groups_, [](const GroupPtr& group) { return group->begins_segment; });
}

std::optional<Log::Impl::Time> Log::Impl::next_due() const {
  if (full_) return closing_ ? Time::min() : retry_at_;
  if (has_work()) {
    const Group& first = *groups_.front();
    const bool all_here = sync_requested_ && sync_requests_ >= expected_requests_;
    const bool now = all_here || closing_ || groups_.size() > 1 || first.begins_segment ||
                     unsynced_bytes_ >= options_.commit_bytes || options_.commit_interval_ms == 0;
    if (now) return Time::min();
    const Time end = first.since + milliseconds(options_.commit_interval_ms);
    return sync_requested_ ? std::min(end, std::max(sync_requested_since_ + gather_, gather_until_))
                           : end;
  }
  return mark_at_;
}

bool Log::Impl::wants_waking() {
  const std::optional<Time> due = next_due();
  if (!due || *due >= wakes_at_) return false;
  wakes_at_ = Time::min();  // once is enough
  return true;
}

void Log::Impl::wait_for_work(Lock& lock) {
  for (bool busy = true; jobs_.empty(); busy = false) {
    if (closing_ && (failed_ || !has_work())) return;
    const std::optional<Time> due = failed_ ? std::nullopt : next_due();
    const Time now = steady_clock::now();
    if (due && *due <= now) return;
    wakes_at_ = due.value_or(Time::max());
    // Under load the committer wakes by itself, so that appenders need not wake it.
    if (busy) wakes_at_ = std::min(wakes_at_, now + milliseconds(options_.commit_interval_ms));
    if (busy && expected_requests_ > 1)
      wakes_at_ = std::min(wakes_at_, std::max(now, gather_until_));
    if (wakes_at_ == Time::max()) {
      work_.wait(lock);
    } else {
      work_.wait_until(lock, Time(wakes_at_));
    }
    wakes_at_ = Time::min();
  }
}

void Log::Impl::run() {
  Lock lock(mutex_);
  while (true) {
    wait_for_work(lock);
    const auto now = steady_clock::now();
    const std::optional<Time> due = failed_ ? std::nullopt : next_due();
    if (due && *due <= now && (has_work() || full_)) commit(lock);
    run_jobs(lock);
    if (!failed_ && !full_ && !has_work() && mark_at_ && *mark_at_ <= now) {
      mark_at_.reset();
      lock.unlock();
      const Result<void> marked = write_mark();
      lock.lock();
      if (!marked) finish_commit(marked);
    }
    if (closing_ && jobs_.empty() && (failed_ || full_ || !has_work())) break;
  }
  ended_ = true;
  fail_groups(failed_.value_or(full_.value_or(Error{Errc::kUnavailable, "the log is closed", {}})));
  if (failed_ || full_) return;
  lock.unlock();
  Result<void> marked = write_mark();
  if (marked) marked = segments_->sync();
  lock.lock();
  // The mark only speeds up the next replay, so a full disk is harmless here.
  if (!marked && marked.error().code != Errc::kOverloaded) finish_commit(marked);
}

void Log::Impl::commit(Lock& lock) {
  sync_requested_ = false;
  const std::size_t served = std::exchange(sync_requests_, 0);
  if (groups_.back()->has_work()) add_group();
  while (groups_.size() > 1) {
    in_flight_.push_back(std::move(groups_.front()));
    groups_.pop_front();
  }
  lock.unlock();
  const auto begin = steady_clock::now();
  const Result<void> outcome = write_in_flight();
  const auto took = steady_clock::now() - begin;
  stats_.seconds.Observe(std::chrono::duration<double>(took).count());
  lock.lock();
  // Clients answered now tend to return while the requests that arrived meanwhile still wait.
  expected_requests_ = served + sync_requests_;
  gather_ = std::clamp<Time::duration>(took / 2, kGatherMin, kGatherMax);
  gather_until_ = expected_requests_ > 1 ? begin + took + 2 * gather_ : Time::min();
  finish_commit(outcome);
}

Result<void> Log::Impl::write_in_flight() {
  while (written_ < in_flight_.size()) {
    Result<void> written = write_group(*in_flight_[written_]);
    if (!written) {
      // A full disk fails this group, but not those already written.
      if (written.error().code == Errc::kOverloaded) TRY_VOID(sync_written());
      return written;
    }
    ++written_;
  }
  return sync_written();
}

Result<void> Log::Impl::write_group(Group& group) {
  const std::size_t bytes = log_format::padded(group.bytes.size(), log_format::kPageBytes);
  if (group.begins_segment || (group.records > 0 && !segments_->has_room(bytes))) {
    TRY_VOID(sync_written());
    TRY_VOID(segments_->begin_next(group.first - 1));
    group.begins_segment = false;  // also if the write must be retried
  }
  if (group.records == 0) return {};
  log_format::seal_group(group.bytes, synced_upto_, group.first, group.records, segments_->key(),
                         segments_->offset());
  // Records before a cut must be written before anything can be truncated.
  const bool cut_waits =
      std::ranges::any_of(in_flight_, [](const GroupPtr& one) { return one->begins_segment; });
  TRY_VOID(segments_->write(
      group.bytes, group.last(),
      cut_waits ? log_format::Segments::Growth::kNeeded : log_format::Segments::Growth::kAhead));
  stats_.bytes.Increment(static_cast<double>(group.bytes.size()));
  return {};
}

Result<void> Log::Impl::sync_written() {
  if (written_ == 0) return {};
  // Sync only once. After a failure the system forgets what it could not write, and the next sync
  // would succeed.
  if (Result<void> synced = segments_->sync(); !synced) {
    synced.error().code = Errc::kUnavailable;
    return synced;
  }
  stats_.commits.Increment();
  std::vector<Completion> done;
  {
    const Lock lock(mutex_);
    for (; written_ > 0; --written_) done.push_back(finish_group());
    wake_space();
  }
  for (const Completion& group : done) group.finish({});
  return {};
}

// The first group in flight is durable.
Completion Log::Impl::finish_group() {
  const GroupPtr group = std::move(in_flight_.front());
  in_flight_.pop_front();
  if (group->records > 0) synced_ = synced_upto_ = group->last();
  stats_.records.Increment(group->records);
  unsynced_bytes_ -= group->record_bytes;
  if (buffers_.size() < kBuffersKept && group->bytes.capacity() <= kBufferBytesKept) {
    buffers_.push_back(std::move(group->bytes));
  }
  return group->done;
}

void Log::Impl::wake_space() {
  stats_.unsynced_bytes.Set(static_cast<double>(unsynced_bytes_));
  if (unsynced_bytes_ > options_.unsynced_bytes_max) return;
  std::exchange(space_, Completion()).finish({});
}

void Log::Impl::fail_groups(const Error& error) {
  for (auto* groups : {&in_flight_, &groups_}) {
    for (const GroupPtr& group : *groups) {
      std::exchange(group->done, Completion()).finish(std::unexpected(error));
    }
  }
  std::exchange(space_, Completion()).finish(std::unexpected(error));
}

void Log::Impl::finish_commit(const Result<void>& outcome) {
  note_disk();
  if (outcome) {
    if (full_) log::info("the write-ahead log accepts points again: the disk has free space");
    full_.reset();
    retry_at_.reset();
    if (options_.idle_mark_ms > 0 && marked_upto_ != synced_upto_) {
      mark_at_ = steady_clock::now() + milliseconds(options_.idle_mark_ms);
    }
    return;
  }
  stats_.failures.Increment();
  // Groups that were not written return to the front, to be retried or failed.
  while (!in_flight_.empty()) {
    groups_.push_front(std::move(in_flight_.back()));
    in_flight_.pop_back();
  }
  written_ = 0;
  if (outcome.error().code == Errc::kOverloaded) {
    if (!full_) log::error("the write-ahead log accepts no points: {}", outcome.error().message);
    full_ = unavailable(outcome.error(), "the log cannot grow");
    retry_at_ = steady_clock::now() + milliseconds(options_.full_disk_retry_ms);
    fail_groups(*full_);
    return;
  }
  log::critical("the write-ahead log has failed and accepts no points until the next start: {}",
                outcome.error().message);
  failed_ = unavailable(outcome.error(), "the log has failed");
  fail_groups(*failed_);
}

Result<void> Log::Impl::write_mark() {
  if (marked_upto_ == synced_upto_ || !segments_->has_room(log_format::kPageBytes)) return {};
  Bytes mark;
  log_format::begin_group(mark);
  log_format::seal_group(mark, synced_upto_, synced_upto_ + 1, 0, segments_->key(),
                         segments_->offset());
  TRY_VOID(segments_->write(mark, synced_upto_));
  marked_upto_ = synced_upto_;
  return {};
}

void Log::Impl::run_jobs(Lock& lock) {
  while (!jobs_.empty() && !has_cut()) {
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    Result<void> outcome;
    if (failed_) {
      outcome = std::unexpected(*failed_);
    } else {
      lock.unlock();
      outcome = job.work(*segments_);
      note_disk();
      lock.lock();
    }
    if (full_) retry_at_ = steady_clock::now();  // it may have freed space
    job.outcome.set_value(std::move(outcome));
  }
}

void Log::Impl::note_disk() {
  disk_bytes_ = segments_->disk_bytes();
  stats_.disk_bytes.Set(static_cast<double>(disk_bytes_.load()));
  stats_.segments.Set(static_cast<double>(segments_->count()));
}

}  // namespace halite::storage
