// The write-ahead log: what is appended, in order, comes back after a crash.
//
// A record is a byte string (records.h says what is in it); its sequence is its number since the
// log was made, 1 for the first. Records are collected in memory and committed in groups by one
// thread: write what arrived, sync once, wake all who wait. docs/formats/log.md has the bytes.
//
//   Order    append() order is sequence order is replay order.
//   Lasting  a record outlives a power cut once durable(sequence) has finished well. Until then it
//            may or may not come back; if it does, so does every record before it.
//   Threads  append(), admit(), durable(), request_sync(), cut(), wait_for_space() from any thread;
//   append() and
//            cut() never wait for the disk. truncate_upto(), shrink(), close() block until the disk
//            is done.
//   Errors   a failed write or sync is not tried again: from then on nothing is taken (kUnavailable
//            with the reason), and only a new open() helps. A full disk is less: nothing is taken
//            and waiters get kUnavailable, but what was appended is kept, and written once there is
//            room again; then the log goes on by itself.
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

#include "common/bytes.h"
#include "common/completion.h"
#include "common/task.h"
#include "storage/files/files.h"

namespace halite::storage {

using Sequence = std::uint64_t;  // 0 = before the first record

struct LogOptions {
  std::string dir;                       // made if it is not there; nothing else lives in it
  std::size_t segment_bytes = 64 << 20;  // one file; at least group + record maximum + 12 KiB
  // A new file's, and after shrink(); it grows by doubling.
  std::size_t segment_bytes_min = 64 << 10;
  std::size_t spare_segments_max = 4;  // emptied files kept to be written again

  std::size_t record_bytes_max = 8 << 20;  // more is kTooLarge
  std::size_t group_bytes = 4 << 20;       // a group that has so much takes no more records
  // Records wait at most so long for others to share their sync; 0 = not at all. request_sync()
  // ends it.
  std::int64_t commit_interval_ms = 100;
  std::size_t commit_bytes = 4 << 20;         // so much unsynced is committed without waiting
  std::size_t unsynced_bytes_max = 16 << 20;  // wait_for_space() waits above it
  std::int64_t full_disk_retry_ms = 1000;     // how often a full disk is tried again
  // So much of the disk, and half of the log's own size, is left to what takes its place: a log
  // that has eaten all room cannot be flushed, and never shrinks. The disk is full for it then. 0 =
  // none.
  std::uint64_t reserve_bytes = 0;
  std::int64_t idle_mark_ms =
      1000;  // so long after the last commit "all synced" is noted; 0 = never

  Sequence flushed_upto = 0;     // what is safe elsewhere: not replayed, not missed
  bool flushed_unknown = false;  // all is replayed, and what was dropped is not missed
};

struct ReplayProgress {
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;  // of all segments
  std::uint64_t records = 0;      // handed to the callback
};

// Acknowledged records that could not be read any more.
struct LogDamage {
  std::string segment;       // path
  std::uint64_t offset = 0;  // of the damaged bytes in it
  std::uint64_t bytes = 0;
  Sequence begin = 0;  // the records lost: [begin, end)
  Sequence end = 0;
  std::string quarantine;  // where the bytes were set aside; empty = there were none
};

struct ReplayReport {
  std::uint64_t records = 0;  // handed to the callback
  Sequence last = 0;          // the last one of the log, handed out or not
  bool torn = false;          // an unfinished write was cut off at the end
  std::vector<LogDamage> damages;
};

struct ReplayCallbacks {
  // Each record above flushed_upto, in order. The view is valid during the call. An error ends
  // Log::open() with it.
  std::function<Result<void>(Sequence, BytesView payload)> record;
  // Before the first segment and after each; may be empty. An error ends Log::open() with it.
  std::function<Result<void>(const ReplayProgress&)> progress;
};

class Log {
 public:
  // Replays what is there, then takes new records. Blocks. kConflict: somebody has the directory;
  // kUnsupported: written by a newer Halite; kInvalidArgument: options that do not fit together.
  // Damage is no error: it is set aside in files `damaged-*` and reported.
  static Result<std::unique_ptr<Log>> open(std::shared_ptr<FileSystem> files,
                                           const LogOptions& options, const ReplayCallbacks& replay,
                                           prometheus::Registry& registry);
  ~Log();  // close(), its outcome lost
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  [[nodiscard]] const ReplayReport& replayed() const;

  // Takes a record in: a copy into memory, fit for a short lock around it. kTooLarge, or
  // kUnavailable when the log has failed or the disk is full.
  Result<Sequence> append(BytesView payload);

  // Leave to append records that belong together: either the first is refused, or none is.
  class Admission {
   private:
    friend class Log;
    Admission() = default;
  };
  // kUnavailable as append().
  [[nodiscard]] Result<Admission> admit() const;
  // Takes a record in, whatever has become of the log since it was admitted: durable() tells. A
  // payload over record_bytes_max is a broken promise of the caller's.
  Sequence append(Admission admission, BytesView payload);

  // Finishes when every record up to `sequence` outlives a power cut, or with why it may not. All
  // records of a group share one Completion. Wakes nobody: see request_sync().
  [[nodiscard]] Completion durable(Sequence sequence);

  // Somebody waits: commit what is there as soon as possible, not when the interval is over.
  void request_sync();

  // Waits while more than unsynced_bytes_max are unsynced. To be awaited before the lock under
  // which append() is called. kUnavailable when the log has failed.
  Task<void> wait_for_space();

  // Ends the segment: the next record begins a new one, so that all records up to the returned
  // sequence can be dropped together. Does not wait for the disk.
  Sequence cut();

  // Segments whose records are all <= sequence are emptied or removed, oldest first. The caller
  // has made sure that nothing in them is needed.
  Result<void> truncate_upto(Sequence sequence);

  // Gives the space of spare segments back, and of the one in use what it does not need.
  Result<void> shrink();

  // Commits what was appended and stops. Later calls are kUnavailable.
  Result<void> close();

  [[nodiscard]] Sequence last() const;    // appended
  [[nodiscard]] Sequence synced() const;  // durable
  [[nodiscard]] Result<void> health() const;
  // Whether the disk is full for it. Dropping segments helps.
  [[nodiscard]] bool full() const;
  [[nodiscard]] std::uint64_t disk_bytes() const;  // of all segments, spare ones too

 private:
  class Impl;
  explicit Log(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace halite::storage
