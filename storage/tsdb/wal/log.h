// The write-ahead log: replays what was appended, in order, after a crash.
//
// A record is a byte string (format: records.h). Its sequence is its number since the log was
// created, from 1. Records are collected in memory. One thread commits them in groups: it writes
// what arrived, syncs once, and wakes all waiters. docs/formats/log.md has the bytes.
//
//   Order    append() order is sequence order and replay order.
//   Durable  a record is durable once durable(sequence) has succeeded. Until then it may or may not
//            survive; if it does, so does every record before it.
//   Threads  call append(), admit(), durable(), request_sync(), cut() and wait_for_space() from any
//            thread; append() and cut() never wait for the disk. truncate_upto(), shrink() and
//            close() block until the disk is done.
//   Errors   a failed write or sync is not retried: afterwards all records are refused
//   (kUnavailable
//            with the reason), until a new open(). A full disk is temporary: new records and
//            waiters get kUnavailable, but appended records are kept and written once there is
//            space again.
//
// Over 140 lines because options, statistics and errors of the log are explained here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <prometheus/registry.h>

#include "common/bytes/bytes.h"
#include "common/threads/completion.h"
#include "common/threads/task.h"
#include "storage/files/files.h"

namespace halite::storage {

using Sequence = std::uint64_t;  // 0 = before the first record

struct LogOptions {
  std::string dir;                       // created if missing; for the log alone
  std::size_t segment_bytes = 64 << 20;  // file size; at least group + record maximum + 12 KiB
  // Size of a new file, and after shrink(). Files grow by doubling.
  std::size_t segment_bytes_min = 64 << 10;
  std::size_t spare_segments_max = 2;

  std::size_t record_bytes_max = 8 << 20;  // a larger record is kTooLarge
  std::size_t group_bytes = 4 << 20;       // a group of this size takes no more records
  // Maximum time for which records wait for others to share their sync; 0 = none. request_sync()
  // ends the wait.
  std::int64_t commit_interval_ms = 100;
  std::size_t commit_bytes = 4 << 20;         // this many unsynced bytes are committed at once
  std::size_t unsynced_bytes_max = 16 << 20;  // wait_for_space() waits above it
  std::int64_t full_disk_retry_ms = 1000;     // retry interval while the disk is full
  // Disk space, besides half of the log's own size, that the log leaves for the chunks that replace
  // it. A log that fills the disk could not be flushed and would never shrink. The log treats the
  // disk as full at this limit. 0 = none.
  std::uint64_t reserve_bytes = 0;
  std::int64_t idle_mark_ms =
      1000;  // time after the last commit at which "all synced" is noted; 0 = never

  Sequence flushed_upto = 0;     // records up to here are in chunks: not replayed, not missed
  bool flushed_unknown = false;  // replay all; truncated records are not missed
};

struct ReplayProgress {
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;  // of all segments
  std::uint64_t records = 0;      // handed to the callback
};

// Acknowledged records that are unreadable.
struct LogDamage {
  std::string segment;       // path
  std::uint64_t offset = 0;  // of the damaged bytes in the segment
  std::uint64_t bytes = 0;
  Sequence begin = 0;  // the lost records: [begin, end)
  Sequence end = 0;
  std::string quarantine;  // file with the bytes that were set aside; empty = none
};

struct ReplayReport {
  std::uint64_t records = 0;  // passed to the callback
  Sequence last = 0;          // last sequence of the log, passed to the callback or not
  bool torn = false;          // an unfinished write was cut off at the end
  bool end_lost = false;      // an unknown number of synced records at the end is missing
  std::vector<LogDamage> damages;
};

struct ReplayCallbacks {
  // Called with each record above flushed_upto, in order. The view is valid during the call. An
  // error ends Log::open() with it.
  std::function<Result<void>(Sequence, BytesView payload)> record;
  // Called before the first segment and after each; may be empty. An error ends Log::open() with
  // it.
  std::function<Result<void>(const ReplayProgress&)> progress;
};

class Log {
 public:
  // Replays the log, then accepts new records. Blocks. kConflict: the directory is in use;
  // kUnsupported: written by a newer Halite; kInvalidArgument: inconsistent options. Damage is not
  // an error: it is set aside in files `damaged-*` and reported.
  static Result<std::unique_ptr<Log>> open(std::shared_ptr<FileSystem> files,
                                           const LogOptions& options, const ReplayCallbacks& replay,
                                           prometheus::Registry& registry);
  ~Log();  // calls close() and ignores its result
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  [[nodiscard]] const ReplayReport& replayed() const;

  // Appends a record by copying it into memory; you may hold a lock that must be short. kTooLarge,
  // or kUnavailable if the log has failed or the disk is full.
  Result<Sequence> append(BytesView payload);

  // The permission to append several records together: admit() refuses all of them or none.
  class Admission {
   private:
    friend class Log;
    Admission() = default;
  };
  // kUnavailable as append().
  [[nodiscard]] Result<Admission> admit() const;
  // Appends an admitted record, whatever happened to the log since; durable() reports failures. The
  // payload must not exceed record_bytes_max.
  Sequence append(Admission admission, BytesView payload);

  // Finishes when every record up to `sequence` is durable, or with the reason why it may not be.
  // The records of a group share one Completion. Does not hasten the commit: see request_sync().
  [[nodiscard]] Completion durable(Sequence sequence);

  // Asks for a commit as soon as possible, because a caller waits for it.
  void request_sync();

  // Waits while more than unsynced_bytes_max are unsynced. Await it before you take the lock under
  // which you call append(). kUnavailable if the log has failed.
  Task<void> wait_for_space();

  // Ends the segment; the next record begins a new one. All records up to the returned sequence can
  // then be truncated together. Does not wait for the disk.
  Sequence cut();

  // Empties or removes the segments whose records are all <= sequence, oldest first. The caller
  // must ensure that none of these records is needed.
  Result<void> truncate_upto(Sequence sequence);

  // Frees the space of spare segments, and the unused space of the active one.
  Result<void> shrink();

  // Commits what was appended and stops. Later calls are kUnavailable.
  Result<void> close();

  [[nodiscard]] Sequence last() const;    // appended
  [[nodiscard]] Sequence synced() const;  // durable
  [[nodiscard]] Result<void> health() const;
  // Whether the disk is full for the log. truncate_upto() frees space.
  [[nodiscard]] bool full() const;
  [[nodiscard]] std::uint64_t disk_bytes() const;  // of all segments, including spare ones

 private:
  class Impl;
  explicit Log(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace halite::storage
