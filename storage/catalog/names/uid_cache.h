// Pairs of name and id that are known, for one kind of name.
//
//   Threads   any call from any thread; readers of different names seldom meet.
//   Lifetime  an entry and its name stay where they are as long as the cache, or until they are
//             reclaimed.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "storage/catalog/names/uid_table.h"

namespace halite::storage {

class UidCache {
 public:
  using NameMapping = UidTable::NameMapping;

  [[nodiscard]] const NameMapping* find(std::string_view name) const;
  [[nodiscard]] const NameMapping* find(std::uint64_t uid) const;

  // Keeps the pair. Should its name have another id here, or its id another name (both happen only
  // when another process renames), each direction keeps what it had first.
  const NameMapping* remember(std::string_view name, std::uint64_t uid);

  // After a rename: the old name is forgotten, the id answers to the new one.
  void rename(std::string_view old_name, std::string_view new_name, std::uint64_t uid);

  // Takes a pair out. What find() gave of it stays until reclaim(); nullptr: it was not here.
  const NameMapping* remove(std::string_view name, std::uint64_t uid);
  // Nobody looks at the entry any more: its memory is used again.
  void reclaim(const NameMapping* removed);

  [[nodiscard]] std::size_t size() const;  // names

 private:
  static constexpr std::size_t kShards = 16;

  struct NameHash {
    using is_avalanching = void;
    std::size_t operator()(std::string_view name) const;
  };
  struct Node : NameMapping {
    std::string text;  // what the entry's name views
  };
  struct NameShard {
    mutable std::shared_mutex mutex;
    boost::unordered_flat_map<std::string_view, const NameMapping*, NameHash>
        map;                    // guarded by mutex
    std::deque<Node> nodes;     // guarded by mutex; never shrinks, so addresses hold
    std::vector<Node*> unused;  // of nodes; guarded by mutex
  };
  struct UidShard {
    mutable std::shared_mutex mutex;
    boost::unordered_flat_map<std::uint64_t, const NameMapping*> map;  // guarded by mutex
  };

  [[nodiscard]] NameShard& shard(std::string_view name);
  [[nodiscard]] const NameShard& shard(std::string_view name) const;

  std::array<NameShard, kShards> names_;
  std::array<UidShard, kShards> uids_;
};

}  // namespace halite::storage
