// Group commit: the one thread that writes. All requests that arrive during a sync go into the next
// write. So any number of callers share a sync, and each waits for at most two.
//
// The thread also sets the order. It stamps cell times, which never decrease. It also runs
// read-modify-writes (increment, compare-and-put), so no other write comes between read and write.
//
//   Threads  Call from any thread. Call stop() once.
//   Errors   kUnavailable with RocksDB's message: a write failed. All requests of its group fail,
//            and later ones until RocksDB recovers or is opened again. A failed write may become
//            visible later; it was neither acknowledged nor rolled back.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "common/threads/completion.h"
#include "common/threads/semaphore.h"
#include "common/threads/task.h"
#include "storage/backends/rocks/cell_batch.h"
#include "storage/backends/rocks/database.h"
#include "storage/backends/rocks/recent_cells.h"
#include "storage/backends/shared/hybrid_clock.h"

namespace halite::storage::rocks {

// Takes a cell's current value and returns the new one; nothing = do not write. An error goes to
// the caller, and nothing is written. Runs on the committer's thread.
using Decide =
    std::move_only_function<Result<std::optional<Bytes>>(std::optional<BytesView> current)>;

// Metrics of the committer.
struct CommitStats {
  explicit CommitStats(prometheus::Registry& registry);

  prometheus::Counter& commits;    // halite_storage_commits_total
  prometheus::Counter& failures;   // halite_storage_commit_failures_total
  prometheus::Counter& requests;   // halite_storage_commit_requests_total
  prometheus::Counter& cells;      // halite_storage_cells_written_total
  prometheus::Counter& bytes;      // halite_storage_commit_bytes_total
  prometheus::Histogram& seconds;  // halite_storage_commit_seconds: write and sync
  prometheus::Gauge& queue_bytes;  // halite_storage_commit_queue_bytes
};

class Committer {
 public:
  // All references outlive the committer.
  Committer(const RocksOptions& options, Database& database, HybridClock& times,
            prometheus::Registry& registry);
  ~Committer();

  // Returns when the rows are durable. The caller has checked the rows.
  Task<void> write(std::vector<RowWrite> rows, std::vector<FamilyHandle> families);

  struct CellKey {
    FamilyHandle family;
    Bytes key;  // of cell_key()
  };
  // A CounterAdd with the keys of its cells.
  struct CellAdd {
    std::vector<CellKey> cells;
    std::vector<std::int64_t> deltas;  // of the cells
    std::optional<CellKey> once;
  };
  // Applies all additions in one commit. See Table::add().
  Task<std::vector<AddOutcome>> add(std::vector<CellAdd> adds);

  // Reads a cell and writes it again, atomically.
  Task<void> update(FamilyHandle family, Bytes key, Decide decide);

  // Whether the cell's value need not be read from the database to change it.
  [[nodiscard]] bool knows(const CellKey& cell) const {
    return recent_.contains(cell.family.column_family->GetID(), cell.key);
  }

  // The error of the last commit, if it failed.
  [[nodiscard]] Result<void> health() const;

  // Finishes accepted requests and refuses new ones. Blocks.
  void stop();

 private:
  struct Request {
    std::size_t bytes = 0;
    Semaphore::Permit pass;  // for the request's bytes
    CellBatch cells;
    struct Update {
      CellKey cell;
      Decide decide;
    };
    std::optional<Update> update;
    std::vector<CellAdd> adds;
    std::vector<AddOutcome> outcomes;  // of the adds
    Result<void> result;               // the error of an update
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
  TimestampMs lasting_seen_time_ = 0;  // stored in the database; only on the committer's thread
  RecentCells recent_;

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::shared_ptr<Request>> queue_;  // guarded by mutex_
  bool stopping_ = false;                       // guarded by mutex_
  Result<void> last_commit_;                    // guarded by mutex_

  std::thread thread_;  // last: it uses all members above
};

}  // namespace halite::storage::rocks
