// Names that go because nothing uses them any more, of a table that this process owns alone
// (docs/decisions/0012).
//
// Who decides that a name is unused dooms it first; whoever looks it up afterwards spares it. What
// is left when all holds from before are gone (series.h) is removed: out of the cache, then its
// rows. What was removed is reclaimed when all holds from before that are gone: then its memory is
// used again, and its id may be.
//
//   Threads  find() and remember() from any thread, the rest for one thread.
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

#include "storage/catalog/names/deferred_names.h"
#include "storage/catalog/names/uid_assigner.h"
#include "storage/catalog/names/uid_cache.h"

namespace halite::storage {

class NameRemover {
 public:
  using NameMapping = UidTable::NameMapping;
  using Caches = DeferredNames::Caches;

  // References outlive it.
  NameRemover(std::shared_ptr<Table> table, const UidAssigner& ids, Caches& caches,
              DeferredNames& deferred);

  // What the cache has; it is spared. Costs next to nothing while none is doomed.
  [[nodiscard]] const NameMapping* find(NameKind kind, std::string_view name) {
    return find_in_cache(kind, name);
  }
  [[nodiscard]] const NameMapping* find(NameKind kind, std::uint64_t uid) {
    return find_in_cache(kind, uid);
  }

  // How often something began or ended to be removed.
  [[nodiscard]] std::uint64_t removals() const { return removals_.load(); }
  struct Pair {
    NameKind kind = NameKind::kMetric;
    std::uint64_t uid = 0;
    std::string name;
  };
  // Takes into the cache what was read from the table when removals() was so many. False: there
  // were more since, so it is to be read again.
  [[nodiscard]] bool remember(std::span<const Pair> read, std::uint64_t removals);

  // All rows that names have by their ids, for name_cell().
  [[nodiscard]] std::unique_ptr<Scanner> scan() const;
  // Nothing if the key is not an id of the kind.
  [[nodiscard]] std::optional<std::uint64_t> uid_of(NameKind kind, BytesView row) const;

  void mark_candidates(NameKind kind, std::span<const std::uint64_t> uids);
  void unmark_all();

  // What nobody finds any more.
  struct Removed {
    std::array<std::vector<std::uint64_t>, 3> uids;  // by kind: those without rows
    std::vector<std::pair<NameKind, const NameMapping*>> entries;
  };
  // Those that are still doomed and have nothing but their names; none of them is doomed any more.
  // Their ids are marked as freed at that time. Durable when it returns. An error: some of them may
  // have lost rows, and have the mark then.
  Task<void> remove(NameKind kind, std::vector<std::uint64_t> uids, TimestampMs now,
                    Removed& removed);
  // No hold from before the removal is left. The ids are not given to reuse() here.
  void reclaim(const Removed& removed);
  // Takes the marks of freed ids away, durably.
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
  std::atomic<bool> any_candidates_ = false;  // changes with mutex_ held alone
  std::atomic<std::uint64_t> removals_ = 0;   // likewise
  std::shared_mutex mutex_;
  Uids candidates_;  // guarded by mutex_
  Uids leaving_;     // out of the cache, rows may be there yet; guarded by mutex_
};

}  // namespace halite::storage
