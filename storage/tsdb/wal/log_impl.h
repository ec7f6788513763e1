// The implementation of Log: the state that appenders and the committer's thread share.
//
// Records wait in groups_; the last group is open. The committer takes all groups that have work,
// writes them without the mutex, and completes their Completions. Only its thread accesses the
// disk; it runs truncate_upto() and shrink() as jobs between commits.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "storage/tsdb/wal/group.h"
#include "storage/tsdb/wal/log.h"
#include "storage/tsdb/wal/log_stats.h"
#include "storage/tsdb/wal/segments.h"

namespace halite::storage {

class Log::Impl {
 public:
  Impl(std::shared_ptr<FileSystem> files, LogOptions options, prometheus::Registry& registry);
  ~Impl();

  Result<void> open(const ReplayCallbacks& replay);

  Result<Sequence> append(BytesView payload);
  Sequence append_admitted(BytesView payload);
  Completion durable(Sequence sequence);
  void request_sync();
  Task<void> wait_for_space();
  Sequence cut();
  Result<void> run_job(std::function<Result<void>(log_format::Segments&)> work);
  Result<void> close();

  [[nodiscard]] const ReplayReport& report() const { return report_; }
  [[nodiscard]] Sequence last() const;
  [[nodiscard]] Sequence synced() const;
  [[nodiscard]] Result<void> health() const;
  [[nodiscard]] bool full() const;
  [[nodiscard]] std::uint64_t disk_bytes() const { return disk_bytes_; }

 private:
  using Time = std::chrono::steady_clock::time_point;
  using GroupPtr = std::unique_ptr<log_format::Group>;
  using Lock = std::unique_lock<std::mutex>;
  struct Job {
    std::function<Result<void>(log_format::Segments&)> work;
    std::promise<Result<void>> outcome;
  };

  // Call with mutex_ held.
  [[nodiscard]] Result<void> takes_records() const;  // error as health()
  Sequence add_record(BytesView payload);
  void add_group();
  [[nodiscard]] bool has_work() const;
  [[nodiscard]] bool has_cut() const;                  // one that jobs must wait for
  [[nodiscard]] std::optional<Time> next_due() const;  // nothing = not before the next call
  void wait_for_work(Lock& lock);
  [[nodiscard]] bool wants_waking();                // work is due before the committer wakes
  Completion finish_group();                        // the first group in flight is durable
  void fail_groups(const Error& error);             // all current waiters; the groups stay
  void finish_commit(const Result<void>& outcome);  // after a commit, or an attempt
  void wake_space();

  // On the committer's thread, without mutex_.
  void run();
  Result<void> write_in_flight();
  Result<void> write_group(log_format::Group& group);
  Result<void> sync_written();
  Result<void> write_mark();
  void run_jobs(Lock& lock);
  void commit(Lock& lock);
  void note_disk();

  const std::shared_ptr<FileSystem> files_;
  const LogOptions options_;
  log_format::LogStats stats_;
  ReplayReport report_;
  std::unique_ptr<FileLock> lock_;
  std::atomic<std::uint64_t> disk_bytes_ = 0;

  // Used by the committer's thread only.
  std::optional<log_format::Segments> segments_;
  std::size_t written_ = 0;  // groups in flight that are written but not synced
  Sequence synced_upto_ = 0;
  Sequence marked_upto_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable work_;
  // Guarded by mutex_. Only the committer adds to and removes from in_flight_, and it reads the
  // content of these groups without the mutex.
  std::deque<GroupPtr> groups_;
  std::deque<GroupPtr> in_flight_;
  std::vector<Bytes> buffers_;  // of completed groups, for reuse
  std::deque<Job> jobs_;
  Sequence last_ = 0;
  Sequence synced_ = 0;
  Sequence cut_at_ = 0;  // last sequence before the newest cut
  std::size_t unsynced_bytes_ = 0;
  bool sync_requested_ = false;
  // Sync requests often arrive together. So a commit waits until as many arrived as the previous
  // commit served or delayed. It waits at most half as long as that commit took (0.5 to 1 ms) after
  // the first request, or twice that after its end. So connections that would otherwise take turns
  // share their syncs. A single requester does not wait.
  std::size_t sync_requests_ = 0;      // calls of request_sync() since the last commit began
  std::size_t expected_requests_ = 0;  // of the previous commit and during it
  Time sync_requested_since_;          // time of the first request
  Time::duration gather_{0};           // maximum wait for others
  Time gather_until_ = Time::min();    // and its end, after a commit that served several
  Time wakes_at_ = Time::min();        // when the committer wakes by itself; min: it is awake
  bool closing_ = false;
  bool closed_ = false;
  bool ended_ = false;            // the committer accepts nothing more
  std::optional<Error> failed_;   // permanent failure
  std::optional<Error> full_;     // full disk, until a retry succeeds
  std::optional<Time> retry_at_;  // while full_
  std::optional<Time> mark_at_;   // when to note that all is synced
  Completion space_;              // for current waiters

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace halite::storage
