// The one thread that writes. What arrives while it syncs goes together into the next write, so
// any number of callers share a sync, and no one waits for more than two.
//
// Being one thread it also sets the order: cell times are stamped here and never run backwards, and
// a read-modify-write (increment, compare-and-put) reads here, where nobody can write in between.
//
//   Threads  any call from any thread. stop() once.
//   Errors   kUnavailable with RocksDB's text when a write fails: those of one group fail together,
//            and later ones until RocksDB has recovered by itself or was opened again. A failed
//            write may still show after that: nobody was told that it is safe, or that it is gone.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <prometheus/registry.h>

#include "common/completion.h"
#include "common/semaphore.h"
#include "common/task.h"
#include "storage/backends/rocks/cell_batch.h"
#include "storage/backends/rocks/commit_stats.h"
#include "storage/backends/rocks/database.h"
#include "storage/backends/shared/hybrid_clock.h"

namespace halite::storage::rocks {

// Given what a cell holds now, what it shall hold: nothing = leave it. An error goes to the caller,
// and nothing is written. Runs on the committer's thread.
using Decide =
    std::move_only_function<Result<std::optional<Bytes>>(std::optional<BytesView> current)>;

class Committer {
 public:
  // All of them outlive the committer.
  Committer(const RocksOptions& options, Database& database, HybridClock& times,
            prometheus::Registry& registry);
  ~Committer();

  // Durable when it returns. The rows have been checked.
  Task<void> write(std::vector<RowWrite> rows, std::vector<FamilyHandle> families);

  // Reads a cell and writes it again in one step.
  Task<void> update(FamilyHandle family, Bytes key, Decide decide);

  // Whether the last commit was made durable, and if not, why.
  [[nodiscard]] Result<void> health() const;

  // Finishes what was taken in, refuses the rest. Blocks.
  void stop();

 private:
  struct Request {
    std::size_t bytes = 0;
    Semaphore::Permit pass;  // for as many
    CellBatch cells;
    struct Update {
      FamilyHandle family;
      Bytes key;
      Decide decide;
    };
    std::optional<Update> update;
    Result<void> result;  // an update's own error
    Completion done;
  };
  using Group = std::vector<std::shared_ptr<Request>>;
  class Updates;

  Task<void> commit(std::shared_ptr<Request> request);
  [[nodiscard]] bool enqueue(const std::shared_ptr<Request>& request);
  void run();
  Group take_group();
  Result<void> write_group(Group& group);
  rocksdb::Status fill_batch(Group& group, rocksdb::WriteBatch& batch);
  void finish(const Group& group, const Result<void>& outcome);

  const std::size_t group_bytes_max_;
  Database& database_;
  HybridClock& times_;
  CommitStats stats_;
  const std::shared_ptr<Semaphore> semaphore_;
  TimestampMs lasting_seen_time_ = 0;  // what the database has; the committer's thread only

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::shared_ptr<Request>> queue_;  // guarded by mutex_
  bool stopping_ = false;                       // guarded by mutex_
  Result<void> last_commit_;                    // guarded by mutex_

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace halite::storage::rocks
