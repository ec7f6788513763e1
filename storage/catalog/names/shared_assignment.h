// Assigns ids to new names in a table that other processes also write, with compare-and-put
// (uid_assigner.h). Concurrent callers for a name share one assignment.
//
//   Threads  call from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "storage/catalog/names/deferred_names.h"
#include "storage/catalog/names/uid_assigner.h"
#include "storage/catalog/names/uid_cache.h"

namespace halite::storage {

class SharedAssignment {
 public:
  using Caches = DeferredNames::Caches;
  using OnAssigned = DeferredNames::OnAssigned;
  using Key = std::pair<NameKind, std::string>;

  // References must outlive it. Calls `on_assigned` for each new id; it must not block.
  SharedAssignment(UidAssigner& ids, Caches& caches, OnAssigned on_assigned);
  ~SharedAssignment();

  // Assigns the names that no other caller assigns, then waits for the others. When it succeeds,
  // every name is in the cache; otherwise it returns the first error.
  Task<void> assign(std::vector<Key> names);

 private:
  using NameMapping = UidTable::NameMapping;
  struct PendingAssignment;
  class CompletionGuard;

  Task<NameMapping> join(Key key, std::shared_ptr<PendingAssignment> flight);
  Task<NameMapping> assign_reserved(Key key, std::shared_ptr<PendingAssignment> flight,
                                    std::uint64_t reserved);
  void complete(const Key& key, PendingAssignment& flight);
  [[nodiscard]] UidCache& cache(NameKind kind) { return caches_[static_cast<std::size_t>(kind)]; }

  UidAssigner& ids_;
  Caches& caches_;
  const OnAssigned on_assigned_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<PendingAssignment>> pending_;  // guarded by mutex_
};

}  // namespace halite::storage
