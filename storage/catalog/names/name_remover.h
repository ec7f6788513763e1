// Removes unused names from a table that this process alone writes (docs/decisions/0012).
//
// Garbage collection makes an unused name a removal candidate; a lookup ends that. When all older
// pins are released (series.h), the remaining candidates are removed from the cache, and then their
// rows. When all pins older than the removal are released, they are reclaimed: memory and ids may
// be used again.
//
//   Threads  call find() and remember() from any thread; all else from one thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "storage/catalog/index/posting_list.h"
#include "storage/catalog/names/deferred_names.h"
#include "storage/catalog/names/uid_assigner.h"
#include "storage/catalog/names/uid_cache.h"

namespace halite::storage {

class NameRemover {
 public:
  using NameMapping = UidTable::NameMapping;
  using Caches = DeferredNames::Caches;

  // References must outlive it.
  NameRemover(std::shared_ptr<Table> table, const UidAssigner& ids, Caches& caches,
              DeferredNames& deferred);

  // Looks up the cache; the name is no longer a removal candidate. Very cheap without candidates.
  [[nodiscard]] const NameMapping* find(NameKind kind, std::string_view name) {
    return find_in_cache(kind, name);
  }
  [[nodiscard]] const NameMapping* find(NameKind kind, std::uint64_t uid) {
    return find_in_cache(kind, uid);
  }

  // Counts the begins and ends of removals.
  [[nodiscard]] std::uint64_t removals() const { return removals_.load(); }
  struct Pair {
    NameKind kind = NameKind::kMetric;
    std::uint64_t uid = 0;
    std::string name;
  };
  // Caches names that were read when removals() had this value. False: removals() has changed, so
  // read the names again.
  [[nodiscard]] bool remember(std::span<const Pair> read, std::uint64_t removals);

  // All rows that map ids to names, for name_cell().
  [[nodiscard]] std::unique_ptr<Scanner> scan() const;
  // nullopt if the key is not an id of the kind.
  [[nodiscard]] std::optional<std::uint64_t> uid_of(NameKind kind, BytesView row) const;

  void mark_candidates(NameKind kind, std::span<const std::uint64_t> uids);
  void unmark_all();

  // The ids of cached names, except those `used`; without ids that an IdSet cannot hold.
  [[nodiscard]] std::vector<std::uint64_t> cached_except(NameKind kind, const IdSet& used) const;

  // Removed names; readers with older pins may still use them.
  struct Removed {
    std::array<std::vector<std::uint64_t>, 3> uids;  // by kind: ids whose rows are deleted
    std::vector<std::pair<NameKind, const NameMapping*>> entries;
  };
  // Removes those that are still candidates and have no cells but their names. Afterwards none is a
  // candidate. Marks their ids as freed at `now`. Durable when it returns. After an error some of
  // them may have lost rows; those are marked.
  Task<void> remove(NameKind kind, std::vector<std::uint64_t> uids, TimestampMs now,
                    Removed& removed);
  // Removes from memory those that are still candidates, except names `used`; their rows stay. All
  // rows of names are written.
  void unload(NameKind kind, const IdSet& used, Removed& removed);
  // Call when all pins older than the removal are released. Does not call reuse().
  void reclaim(const Removed& removed);
  // Deletes the marks of freed ids, durably.
  Task<void> unmark(NameKind kind, std::vector<std::uint64_t> uids);

  [[nodiscard]] DeferredNames& ids() { return deferred_; }
  [[nodiscard]] std::size_t known() const;  // names in memory

 private:
  template <class By>
  const NameMapping* find_in_cache(NameKind kind, By by);
  [[nodiscard]] bool any_candidates_locked() const;
  Task<std::vector<Pair>> read(NameKind kind, std::vector<std::uint64_t> uids);
  std::vector<Pair> take_out(std::vector<Pair> names, Removed& removed);
  Task<void> delete_rows(const std::vector<Pair>& names, TimestampMs now);
  [[nodiscard]] UidCache& cache(NameKind kind) { return caches_[static_cast<std::size_t>(kind)]; }

  using Uids = std::array<boost::unordered_flat_set<std::uint64_t>, 3>;  // by kind

  const std::shared_ptr<Table> table_;
  const UidAssigner& ids_;
  Caches& caches_;
  DeferredNames& deferred_;
  std::atomic<bool> any_candidates_ = false;  // changes with mutex_ exclusive
  std::atomic<std::uint64_t> removals_ = 0;   // changes with mutex_ exclusive
  std::shared_mutex mutex_;
  Uids candidates_;  // guarded by mutex_
  Uids leaving_;     // not in the cache, may still have rows; guarded by mutex_
};

}  // namespace halite::storage
