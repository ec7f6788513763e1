// New names in a table that this process alone writes: ids from blocks, write-ahead log, rows
// later.
//
// One increment of the table's counter reserves a block of ids. After a crash the rest of a block
// is skipped, so no id is assigned twice. Ids passed to reuse() are assigned first. A name is in
// the log before its id is visible. Its two rows are deferred until flush_rows().
//
//   Threads  call from any thread.
//
// Over 140 lines because each step of an assignment states what a crash leaves.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/threads/completion.h"
#include "common/threads/semaphore.h"
#include "common/threads/task.h"
#include "common/threads/write_behind_queue.h"
#include "storage/catalog/names/name_log.h"
#include "storage/catalog/names/uid_assigner.h"
#include "storage/catalog/names/uid_cache.h"

namespace halite::storage {

// Writes both rows of each name, durably. The names' views must stay valid until then.
[[nodiscard]] Task<void> write_names(Table& table, const UidAssigner& ids,
                                     const std::vector<NewName>& names);

// A name from the log.
struct LoggedName {
  NameKind kind = NameKind::kMetric;
  std::uint64_t uid = 0;
  std::string name;
};

// One of `count` parts of some names, which threads may restore at the same time. All entries of a
// name belong to one part.
struct NamePart {
  std::size_t number = 0;
  std::size_t count = 1;
};

// Replays names after a restart: returns, in order, the names of a log whose rows are missing. If
// the row of an id exists, the name is skipped, because the id may have another name since. The
// counter never reserves these ids again. kCorruption: not a name that was logged.
[[nodiscard]] Task<std::vector<LoggedName>> names_without_rows(std::shared_ptr<Table> table,
                                                               UidWidths widths,
                                                               std::vector<LoggedName> names);
// Writes the rows of such names.
[[nodiscard]] Task<void> write_logged_names(std::shared_ptr<Table> table, UidWidths widths,
                                            std::vector<LoggedName> names);

class DeferredNames {
 public:
  using Caches = std::array<UidCache, 3>;  // by kind
  using OnAssigned = std::function<void(NameKind, const UidTable::NameMapping&)>;

  // References must outlive it. Calls `on_assigned` for each new name; it must not block.
  DeferredNames(std::shared_ptr<Table> table, UidAssigner& ids, Caches& caches, NameLog& log,
                OnAssigned on_assigned);

  // Assigns ids to those of the names that are not in the cache. The names are distinct and have no
  // rows. When it succeeds, all are in the cache.
  Task<void> assign(std::vector<std::pair<NameKind, std::string>> names);

  // Adds those names of an earlier log, which have no rows yet, that belong to the part. Watchers
  // are not called: they saw the names when these were assigned.
  void restore(const std::vector<LoggedName>& names, NamePart part);

  // Whether every name of the kind is in the cache, which is so if the table was empty when this
  // process started.
  [[nodiscard]] bool all_cached(NameKind kind) const {
    return all_cached_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
  }

  // Call before a name with rows is removed from the cache.
  void not_all_cached(NameKind kind) { all_cached_[static_cast<std::size_t>(kind)] = false; }

  // Reserves a name: assign() waits while this exists.
  class NameReservation {
   public:
    NameReservation(DeferredNames& owner, std::pair<NameKind, std::string> name);
    NameReservation(NameReservation&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), name_(std::move(other.name_)) {}
    NameReservation& operator=(NameReservation&&) = delete;
    ~NameReservation();

   private:
    DeferredNames* owner_;
    std::pair<NameKind, std::string> name_;
  };
  Task<NameReservation> reserve_name(NameKind kind, std::string name);

  // Makes the rows of every name that has an id now durable.
  Task<void> flush_rows();
  // Makes these names durable, by their rows or by the log.
  Task<void> durable();

  // Returns unused ids of the blocks to the counter. Do not call assign() after it.
  Task<void> give_back();

  // Ids of the kind that nothing uses. They are assigned before others, smallest first.
  void reuse(NameKind kind, std::vector<std::uint64_t> uids);
  // Stops the use of ids from reuse(). Returns for each kind the id from which on no id is known to
  // have been assigned before this call.
  Task<std::array<std::uint64_t, 3>> stop_reuse();
  // The number of ids of the kind that this process has assigned.
  [[nodiscard]] std::uint64_t given(NameKind kind) const {
    return given_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
  }
  [[nodiscard]] const UidAssigner& ids() const { return ids_; }

 private:
  // Reserved ids that are not assigned yet: [begin, end).
  struct IdRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t size = 0;  // of the last block
  };
  // What blocks assign().
  struct Obstacle {
    std::optional<Completion> reserved;
    NameKind kind = NameKind::kMetric;
    std::uint64_t ids = 0;  // number of ids of the kind that are needed; 0 = none
  };
  using Key = std::pair<NameKind, std::string>;

  Result<Obstacle> try_assign(std::span<const Key> names);
  Result<void> give_ids(std::span<const Key* const> names);
  Result<void> give_group(NameKind kind, std::span<const NewName> group);
  Task<void> refill(NameKind kind, std::uint64_t ids);
  [[nodiscard]] std::uint64_t next_uid(NameKind kind, std::size_t ahead);
  void take_uids(NameKind kind, std::size_t count);
  [[nodiscard]] IdRange& block(NameKind kind) { return id_ranges_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::vector<std::uint64_t>& unused(NameKind kind) {
    return unused_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] UidCache& cache(NameKind kind) { return caches_[static_cast<std::size_t>(kind)]; }

  const std::shared_ptr<Table> table_;
  UidAssigner& ids_;
  Caches& caches_;
  NameLog& log_;
  const OnAssigned on_assigned_;
  WriteBehindQueue<NewName> unwritten_;  // in the log; views into the caches
  std::shared_ptr<Semaphore> refill_;    // admits one caller at a time

  std::array<std::atomic<bool>, 3> all_cached_ = {};
  std::array<std::atomic<std::uint64_t>, 3> given_ = {};

  std::mutex mutex_;
  std::array<IdRange, 3> id_ranges_;                  // guarded by mutex_
  std::array<std::vector<std::uint64_t>, 3> unused_;  // greatest first; guarded by mutex_
  std::map<Key, Completion> reserved_;                // guarded by mutex_
};

}  // namespace halite::storage
