#include "storage/catalog/names/uid_cache.h"

#include <mutex>

#include <xxhash.h>

namespace halite::storage {

std::size_t UidCache::NameHash::operator()(std::string_view name) const {
  return XXH3_64bits(name.data(), name.size());
}

// The map uses other bits of the hash.
UidCache::NameShard& UidCache::shard(std::string_view name) {
  return names_[(NameHash()(name) >> 40) % kShards];
}

const UidCache::NameShard& UidCache::shard(std::string_view name) const {
  return names_[(NameHash()(name) >> 40) % kShards];
}

const UidCache::NameMapping* UidCache::find(std::string_view name) const {
  const NameShard& shard_of_name = shard(name);
  const std::shared_lock lock(shard_of_name.mutex);
  const auto found = shard_of_name.map.find(name);
  return found == shard_of_name.map.end() ? nullptr : found->second;
}

const UidCache::NameMapping* UidCache::find(std::uint64_t uid) const {
  const UidShard& shard_of_name = uids_[uid % kShards];
  const std::shared_lock lock(shard_of_name.mutex);
  const auto found = shard_of_name.map.find(uid);
  return found == shard_of_name.map.end() ? nullptr : found->second;
}

const UidCache::NameMapping* UidCache::remember(std::string_view name, std::uint64_t uid) {
  const NameMapping* entry = nullptr;
  {
    NameShard& shard_of_name = shard(name);
    const std::lock_guard lock(shard_of_name.mutex);
    const auto found = shard_of_name.map.find(name);
    if (found != shard_of_name.map.end() && found->second->uid == uid) return found->second;
    Node* node = nullptr;
    if (shard_of_name.unused.empty()) {
      node = &shard_of_name.nodes.emplace_back();
    } else {
      node = shard_of_name.unused.back();
      shard_of_name.unused.pop_back();
    }
    node->text = name;
    node->name = node->text;
    node->uid = uid;
    entry = node;
    // Keeps its first id if another process renamed it.
    shard_of_name.map.emplace(entry->name, entry);
  }
  UidShard& shard_of_name = uids_[uid % kShards];
  const std::lock_guard lock(shard_of_name.mutex);
  shard_of_name.map.emplace(uid, entry);  // keeps its first name
  return entry;
}

void UidCache::rename(std::string_view old_name, std::string_view new_name, std::uint64_t uid) {
  {
    NameShard& shard_of_name = shard(old_name);
    const std::lock_guard lock(shard_of_name.mutex);
    shard_of_name.map.erase(old_name);
  }
  const NameMapping* entry = remember(new_name, uid);
  UidShard& shard_of_name = uids_[uid % kShards];
  const std::lock_guard lock(shard_of_name.mutex);
  shard_of_name.map.insert_or_assign(uid, entry);
}

const UidCache::NameMapping* UidCache::remove(std::string_view name, std::uint64_t uid) {
  const NameMapping* entry = nullptr;
  {
    NameShard& shard_of_name = shard(name);
    const std::lock_guard lock(shard_of_name.mutex);
    const auto found = shard_of_name.map.find(name);
    if (found != shard_of_name.map.end() && found->second->uid == uid) {
      entry = found->second;
      shard_of_name.map.erase(found);
    }
  }
  UidShard& shard_of_name = uids_[uid % kShards];
  const std::lock_guard lock(shard_of_name.mutex);
  shard_of_name.map.erase(uid);
  return entry;
}

void UidCache::reclaim(const NameMapping* removed) {
  NameShard& shard_of_name = shard(removed->name);
  const std::lock_guard lock(shard_of_name.mutex);
  // The cast is safe: every entry is a Node.
  auto* const node = const_cast<Node*>(static_cast<const Node*>(removed));
  *node = {};
  shard_of_name.unused.push_back(node);
}

void UidCache::each_uid(const std::function<void(std::uint64_t)>& visit) const {
  for (const UidShard& shard_of_uid : uids_) {
    const std::shared_lock lock(shard_of_uid.mutex);
    for (const auto& [uid, entry] : shard_of_uid.map) visit(uid);
  }
}

std::size_t UidCache::size() const {
  std::size_t names = 0;
  for (const NameShard& shard_of_name : names_) {
    const std::shared_lock lock(shard_of_name.mutex);
    names += shard_of_name.map.size();
  }
  return names;
}

}  // namespace halite::storage
