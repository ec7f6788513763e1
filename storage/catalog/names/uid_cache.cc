#include "storage/catalog/names/uid_cache.h"

#include <mutex>

#include <xxhash.h>

namespace halite::storage {

std::size_t UidCache::NameHash::operator()(std::string_view name) const {
  return XXH3_64bits(name.data(), name.size());
}

// The map uses the hash's other bits.
UidCache::NameShard& UidCache::shard(std::string_view name) {
  return names_[(NameHash()(name) >> 40) % kShards];
}

const UidCache::NameShard& UidCache::shard(std::string_view name) const {
  return names_[(NameHash()(name) >> 40) % kShards];
}

const UidCache::Entry* UidCache::find(std::string_view name) const {
  const NameShard& home = shard(name);
  const std::shared_lock lock(home.mutex);
  const auto found = home.map.find(name);
  return found == home.map.end() ? nullptr : found->second;
}

const UidCache::Entry* UidCache::find(std::uint64_t uid) const {
  const UidShard& home = uids_[uid % kShards];
  const std::shared_lock lock(home.mutex);
  const auto found = home.map.find(uid);
  return found == home.map.end() ? nullptr : found->second;
}

const UidCache::Entry* UidCache::remember(std::string_view name, std::uint64_t uid) {
  const Entry* entry = nullptr;
  {
    NameShard& home = shard(name);
    const std::lock_guard lock(home.mutex);
    const auto found = home.map.find(name);
    if (found != home.map.end() && found->second->uid == uid) return found->second;
    Node* node = nullptr;
    if (home.unused.empty()) {
      node = &home.nodes.emplace_back();
    } else {
      node = home.unused.back();
      home.unused.pop_back();
    }
    node->text = name;
    node->name = node->text;
    node->uid = uid;
    entry = node;
    home.map.emplace(entry->name, entry);  // stays with its first id if renamed elsewhere
  }
  UidShard& home = uids_[uid % kShards];
  const std::lock_guard lock(home.mutex);
  home.map.emplace(uid, entry);  // likewise
  return entry;
}

void UidCache::rename(std::string_view old_name, std::string_view new_name, std::uint64_t uid) {
  {
    NameShard& home = shard(old_name);
    const std::lock_guard lock(home.mutex);
    home.map.erase(old_name);
  }
  const Entry* entry = remember(new_name, uid);
  UidShard& home = uids_[uid % kShards];
  const std::lock_guard lock(home.mutex);
  home.map.insert_or_assign(uid, entry);
}

const UidCache::Entry* UidCache::remove(std::string_view name, std::uint64_t uid) {
  const Entry* entry = nullptr;
  {
    NameShard& home = shard(name);
    const std::lock_guard lock(home.mutex);
    const auto found = home.map.find(name);
    if (found != home.map.end() && found->second->uid == uid) {
      entry = found->second;
      home.map.erase(found);
    }
  }
  UidShard& home = uids_[uid % kShards];
  const std::lock_guard lock(home.mutex);
  home.map.erase(uid);
  return entry;
}

void UidCache::reclaim(const Entry* removed) {
  NameShard& home = shard(removed->name);
  const std::lock_guard lock(home.mutex);
  // Every entry is a node of ours.
  auto* const node = const_cast<Node*>(static_cast<const Node*>(removed));
  *node = {};
  home.unused.push_back(node);
}

std::size_t UidCache::size() const {
  std::size_t names = 0;
  for (const NameShard& home : names_) {
    const std::shared_lock lock(home.mutex);
    names += home.map.size();
  }
  return names;
}

}  // namespace halite::storage
