// The known pairs of name and id of one kind.
//
//   Threads   call from any thread; readers of different names rarely contend.
//   Lifetime  addresses of entries and names are stable until reclaim() or the destructor.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
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

  // Caches the pair. If another process renames, a name may already have another id here, or an id
  // another name; then the existing mappings stay.
  const NameMapping* remember(std::string_view name, std::uint64_t uid);

  // Removes the old name and maps the id to the new one.
  void rename(std::string_view old_name, std::string_view new_name, std::uint64_t uid);

  // Removes a pair; returned entries stay valid until reclaim(). nullptr: not cached.
  const NameMapping* remove(std::string_view name, std::uint64_t uid);
  // Call when no reader uses the entry any more: its memory is used again.
  void reclaim(const NameMapping* removed);

  [[nodiscard]] std::size_t size() const;  // number of names
  // Calls visit(uid) for each id, under a lock.
  void each_uid(const std::function<void(std::uint64_t)>& visit) const;

 private:
  static constexpr std::size_t kShards = 16;

  struct NameHash {
    using is_avalanching = void;
    std::size_t operator()(std::string_view name) const;
  };
  struct Node : NameMapping {
    std::string text;  // the storage of the entry's name
  };
  struct NameShard {
    mutable std::shared_mutex mutex;
    boost::unordered_flat_map<std::string_view, const NameMapping*, NameHash>
        map;                    // guarded by mutex
    std::deque<Node> nodes;     // guarded by mutex; never shrinks, so addresses are stable
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
