// New names of a table that other processes may write, too: each is given its id by compare-and-put
// (uid_assigner.h), and callers that ask for one name at the same time share one assignment.
//
//   Threads  any call from any thread.
#pragma once

#include <cstdint>
#include <functional>
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
  using Told = DeferredNames::Told;
  using Key = std::pair<NameKind, std::string>;

  // References outlive it. `told` is called for each new id; it must not wait.
  SharedAssignment(UidAssigner& ids, Caches& caches, Told told);
  ~SharedAssignment();

  // Leads the assignment of the names that nobody leads yet, then waits for the others. Afterwards
  // every name is in the cache, or the first error is returned.
  Task<void> assign(std::vector<Key> names);

 private:
  using Entry = UidTable::Entry;
  struct Flight;
  class LandingGuard;

  Task<Entry> join(Key key, std::shared_ptr<Flight> flight);
  Task<Entry> assign_reserved(Key key, std::shared_ptr<Flight> flight, std::uint64_t reserved);
  void land(const Key& key, Flight& flight);
  [[nodiscard]] UidCache& cache(NameKind kind) { return caches_[static_cast<std::size_t>(kind)]; }

  UidAssigner& ids_;
  Caches& caches_;
  const Told told_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Flight>> flights_;  // guarded by mutex_
};

}  // namespace halite::storage
