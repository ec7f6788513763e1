#include "storage/tsdb/wal/log_impl.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/check.h"
#include "common/log.h"
#include "common/threads/thread_name.h"
#include "storage/tsdb/wal/format.h"
#include "storage/tsdb/wal/newest_segment.h"
#include "storage/tsdb/wal/replay.h"

namespace halite::storage {

using log_format::Group;
using log_format::Segments;

namespace {

Result<void> check_options(const LogOptions& options) {
  if (options.record_bytes_max > log_format::kPayloadBytesMax) {
    return fail(Errc::kInvalidArgument, "log: record_bytes_max is over 2^28 - 1");
  }
  const std::size_t group_max =
      std::max(options.group_bytes,
               log_format::kGroupHeadBytes + log_format::record_bytes(options.record_bytes_max));
  const std::size_t needed =
      log_format::kPageBytes + log_format::padded(group_max, log_format::kPageBytes);
  if (options.segment_bytes > log_format::kSegmentBytesMax) {
    return fail(Errc::kInvalidArgument,
                fmt::format("log: segment_bytes {} is over {}", options.segment_bytes,
                            log_format::kSegmentBytesMax));
  }
  if (options.segment_bytes < needed) {
    return fail(Errc::kInvalidArgument,
                fmt::format("log: segment_bytes {} must be at least {} for groups and records of "
                            "the size allowed",
                            options.segment_bytes, needed));
  }
  if (options.segment_bytes_min < log_format::kPageBytes ||
      options.segment_bytes_min > options.segment_bytes) {
    return fail(Errc::kInvalidArgument,
                "log: segment_bytes_min must be at least a page and at most segment_bytes");
  }
  return {};
}

Error closed_error() { return {Errc::kUnavailable, "the log is closed", {}}; }

}  // namespace

Log::Impl::Impl(std::shared_ptr<FileSystem> files, LogOptions options,
                prometheus::Registry& registry)
    : files_(std::move(files)),
      options_(std::move(options)),
      stats_(registry, options_.unsynced_bytes_max) {}

Log::Impl::~Impl() {
  // Callers that need the result call close() themselves.
  std::ignore = close();
}

Result<void> Log::Impl::open(const ReplayCallbacks& replay) {
  TRY_VOID(check_options(options_));
  TRY_VOID(make_dirs(*files_, options_.dir));
  TRY(lock_, files_->lock(options_.dir + "/lock"));
  TRY(const auto newest, log_format::read_newest(*files_, options_.dir));
  TRY(log_format::ReplayedLog replayed, log_format::replay_log(*files_, options_, replay));
  report_ = replayed.report;
  for (const LogDamage& damage : report_.damages) {
    stats_.damaged_records.Increment(static_cast<double>(damage.end - damage.begin));
  }
  // Flushed records may not have become durable here. Continue above both.
  last_ = std::max(report_.last, options_.flushed_upto);
  if (report_.torn) stats_.torn_ends.Increment();
  const std::string missing = log_format::missing_end(newest, replayed, options_.flushed_upto);
  if (newest) {
    last_ = std::max(last_, newest->after);
    replayed.number_max = std::max(replayed.number_max, newest->number);
  }
  if (!missing.empty()) {
    stats_.lost_ends.Increment();
    log::error(
        "the end of the log in {} is missing: {}. An unknown number of acknowledged points that "
        "were not yet in chunks is lost. To recover them, stop the server and restore the data "
        "directory from a copy",
        options_.dir, missing);
    // The missing sequences are unknown. Without any segment the log begins with a new salt.
    if (!replayed.segments.empty()) last_ += log_format::kSequencesSkipped;
    report_.end_lost = true;
  }
  // The next segment states that all records before it are durable.
  TRY_VOID(log_format::make_durable(*files_, replayed.unsynced));
  synced_ = synced_upto_ = marked_upto_ = cut_at_ = last_;
  segments_.emplace(*files_, options_, std::move(replayed));
  // Never continue in the old segment: there may be complete records after the cut-off position.
  TRY_VOID(segments_->begin_next(last_));
  TRY_VOID(segments_->truncate_upto(options_.flushed_upto));
  TRY_VOID(segments_->trim_spares(options_.spare_segments_max));
  note_disk();
  add_group();
  thread_ = std::thread([this] {
    name_this_thread("log");
    run();
  });
  return {};
}

void Log::Impl::add_group() {
  auto group = std::make_unique<Group>();
  group->first = last_ + 1;
  if (!buffers_.empty()) {
    group->bytes = std::move(buffers_.back());
    buffers_.pop_back();
  }
  log_format::begin_group(group->bytes);
  groups_.push_back(std::move(group));
}

Result<Sequence> Log::Impl::append(BytesView payload) {
  if (payload.size() > options_.record_bytes_max) {
    return fail(Errc::kTooLarge, fmt::format("a log record of {} bytes is over {}", payload.size(),
                                             options_.record_bytes_max));
  }
  bool wake = false;
  Sequence sequence = 0;
  {
    const std::lock_guard lock(mutex_);
    TRY_VOID(takes_records());
    sequence = add_record(payload);
    wake = wants_waking();
  }
  if (wake) work_.notify_one();
  return sequence;
}

Sequence Log::Impl::append_admitted(BytesView payload) {
  HALITE_CHECK(payload.size() <= options_.record_bytes_max, "an admitted record fits");
  bool wake = false;
  Sequence sequence = 0;
  {
    const std::lock_guard lock(mutex_);
    sequence = add_record(payload);
    wake = wants_waking();
  }
  if (wake) work_.notify_one();
  return sequence;
}

Sequence Log::Impl::add_record(BytesView payload) {
  const std::size_t bytes = log_format::record_bytes(payload.size());
  if (groups_.back()->records > 0 && groups_.back()->bytes.size() + bytes > options_.group_bytes) {
    add_group();
  }
  Group& group = *groups_.back();
  const Sequence sequence = ++last_;
  log_format::append_record(group.bytes, sequence, payload);
  if (group.records++ == 0) group.since = std::chrono::steady_clock::now();
  group.record_bytes += bytes;
  unsynced_bytes_ += bytes;
  return sequence;
}

Completion Log::Impl::durable(Sequence sequence) {
  const std::lock_guard lock(mutex_);
  HALITE_CHECK(sequence <= last_, "a sequence that was never appended");
  if (sequence <= synced_) return Completion::done();
  if (failed_ || full_ || ended_) {
    Completion lost;
    lost.finish(std::unexpected(failed_.value_or(full_.value_or(closed_error()))));
    return lost;
  }
  for (const auto* groups : {&in_flight_, &groups_}) {
    for (const GroupPtr& group : *groups) {
      if (group->records > 0 && sequence <= group->last()) return group->done;
    }
  }
  HALITE_CHECK(false, "a record that is neither synced nor on its way");
}

void Log::Impl::request_sync() {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (unsynced_bytes_ == 0) return;
    ++sync_requests_;
    if (!std::exchange(sync_requested_, true))
      sync_requested_since_ = std::chrono::steady_clock::now();
    wake = wants_waking();
  }
  if (wake) work_.notify_one();
}

Task<void> Log::Impl::wait_for_space() {
  while (true) {
    Completion freed;
    {
      const std::lock_guard lock(mutex_);
      CO_TRY_VOID(takes_records());
      if (unsynced_bytes_ <= options_.unsynced_bytes_max) co_return Result<void>();
      freed = space_;
      sync_requested_ = true;
      sync_requests_ = std::max(sync_requests_, expected_requests_);  // do not wait for others
    }
    work_.notify_one();
    CO_TRY_VOID(co_await freed.wait());
  }
}

Sequence Log::Impl::cut() {
  Sequence last = 0;
  {
    const std::lock_guard lock(mutex_);
    last = last_;
    if (last == cut_at_) return last;
    cut_at_ = last;
    if (groups_.back()->records > 0) add_group();
    groups_.back()->begins_segment = true;
  }
  work_.notify_one();
  return last;
}

Result<void> Log::Impl::run_job(std::function<Result<void>(Segments&)> work) {
  std::future<Result<void>> outcome;
  {
    const std::lock_guard lock(mutex_);
    if (failed_) return std::unexpected(*failed_);
    if (closing_) return std::unexpected(closed_error());
    jobs_.push_back({std::move(work), {}});
    outcome = jobs_.back().outcome.get_future();
  }
  work_.notify_one();
  return outcome.get();
}

Result<void> Log::Impl::close() {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return {};
    closing_ = closed_ = true;
  }
  work_.notify_one();
  if (!thread_.joinable()) return {};  // it was never opened
  thread_.join();
  const std::lock_guard lock(mutex_);
  if (failed_) return std::unexpected(*failed_);
  if (full_) return std::unexpected(*full_);
  return {};
}

Sequence Log::Impl::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

Sequence Log::Impl::synced() const {
  const std::lock_guard lock(mutex_);
  return synced_;
}

Result<void> Log::Impl::health() const {
  const std::lock_guard lock(mutex_);
  return takes_records();
}

Result<void> Log::Impl::takes_records() const {
  if (failed_) return std::unexpected(*failed_);
  if (full_) return std::unexpected(*full_);
  if (closing_) return std::unexpected(closed_error());
  return {};
}

bool Log::Impl::full() const {
  const std::lock_guard lock(mutex_);
  return full_.has_value();
}

}  // namespace halite::storage
