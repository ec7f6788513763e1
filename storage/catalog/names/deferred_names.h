// New names of a table that this process owns alone: ids from blocks, a log first, rows later.
//
// Ids come from blocks that one increment of the table's counter reserves, so what a crash leaves
// of a block is skipped and no id is given twice; ids that nothing uses any more come first, see
// reuse(). A name is in the log before anybody sees its id;
// its rows, both directions, wait for flush_rows().
//
//   Threads  any call from any thread.
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

#include "common/completion.h"
#include "common/semaphore.h"
#include "common/task.h"
#include "common/write_behind_queue.h"
#include "storage/catalog/names/name_log.h"
#include "storage/catalog/names/uid_assigner.h"
#include "storage/catalog/names/uid_cache.h"

namespace halite::storage {

// Writes both rows of each name, durably. The names' views live until then.
[[nodiscard]] Task<void> write_names(Table& table, const UidAssigner& ids,
                                     const std::vector<NewName>& names);

// A name that a log has.
struct LoggedName {
  NameKind kind = NameKind::kMetric;
  std::uint64_t uid = 0;
  std::string name;
};

// After a restart: writes what a log says of names, in its order, as far as the table does not have
// it. Where an id has its row all is left alone: the id may have got another name since. No id of
// theirs is taken off the counter again.
// kCorruption for what nobody logged.
[[nodiscard]] Task<void> restore_names(std::shared_ptr<Table> table, UidWidths widths,
                                       std::vector<LoggedName> names);

class DeferredNames {
 public:
  using Caches = std::array<UidCache, 3>;  // by kind
  using OnAssigned = std::function<void(NameKind, const UidTable::NameMapping&)>;

  // References outlive it. `on_assigned` is called for each new name; it must not wait.
  DeferredNames(std::shared_ptr<Table> table, UidAssigner& ids, Caches& caches, NameLog& log,
                OnAssigned on_assigned);

  // Gives an id to each of these names, each once in the list, unless the cache has it by now. None
  // of them has a row. Afterwards all are in the cache, or an error says why not.
  Task<void> assign(std::vector<std::pair<NameKind, std::string>> names);

  // Whether every name of the kind is in the cache: those of a table that was empty when this
  // process began are.
  [[nodiscard]] bool all_cached(NameKind kind) const {
    return all_cached_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
  }

  // Keeps a name for somebody: assign() waits as long as this lives.
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

  // Afterwards every name that was given an id before the call has its rows, durably.
  Task<void> flush_rows();
  // Afterwards such names outlive a power cut, by their rows or by the log.
  Task<void> durable();

  // What is left of the blocks goes back to the counter. No assign() may follow.
  Task<void> give_back();

  // Ids of the kind that no name, no series and nobody else has: given to new names before others,
  // the smallest first.
  void reuse(NameKind kind, std::vector<std::uint64_t> uids);
  // From now on none of those is given. Returns for each kind the id from which on none is known to
  // have been given before this call.
  Task<std::array<std::uint64_t, 3>> stop_reuse();
  // How many ids of the kind names got from this process.
  [[nodiscard]] std::uint64_t given(NameKind kind) const {
    return given_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
  }
  [[nodiscard]] const UidAssigner& ids() const { return ids_; }

 private:
  // Ids that were reserved and not given: [begin, end).
  struct IdRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t size = 0;  // of the last one reserved
  };
  // What keeps assign() from going on.
  struct Obstacle {
    std::optional<Completion> reserved;
    NameKind kind = NameKind::kMetric;
    std::uint64_t ids = 0;  // so many of the kind are wanted; 0 = none
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
  std::shared_ptr<Semaphore> refill_;    // passed by one at a time

  std::array<std::atomic<bool>, 3> all_cached_ = {};
  std::array<std::atomic<std::uint64_t>, 3> given_ = {};

  std::mutex mutex_;
  std::array<IdRange, 3> id_ranges_;                  // guarded by mutex_
  std::array<std::vector<std::uint64_t>, 3> unused_;  // the greatest first; guarded by mutex_
  std::map<Key, Completion> reserved_;                // guarded by mutex_
};

}  // namespace halite::storage
