// The memory of a block cache, as a share of the memory limit. Shrinking drops blocks at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "common/memory_budget.h"
#include "storage/backends/rocks/files/rocksdb_cache.h"

namespace halite::storage::rocks {

// `setting` is the one that limits the cache.
inline MemoryUser block_cache_user(std::string setting, std::shared_ptr<rocksdb::Cache> cache) {
  MemoryUser user{.setting = std::move(setting), .used = [cache] { return cache->GetUsage(); }};
  user.resize = [cache = std::move(cache)](std::uint64_t bytes) { cache->SetCapacity(bytes); };
  return user;
}

}  // namespace halite::storage::rocks
