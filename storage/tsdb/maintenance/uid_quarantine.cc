#include "storage/tsdb/maintenance/uid_quarantine.h"

#include <algorithm>

namespace halite::storage::engine {
namespace {

// The least `count` ids, or all if there are fewer.
IdSet least(const IdSet& ids, std::uint64_t count) {
  IdSet some;
  for (auto id = ids.begin(); id != ids.end() && count > 0; ++id, --count) some.add(*id);
  return some;
}

}  // namespace

std::optional<std::int64_t> longest_ttl_ms(const Retention& retention) {
  std::int64_t longest = 0;
  const std::uint32_t salts = retention.base().salt_buckets();
  for (std::uint32_t shard = 0; shard < retention.shard_count(); shard += salts) {
    const std::int64_t ttl_ms = retention.layout_of(shard).options().ttl_ms;
    if (ttl_ms == 0) return std::nullopt;
    longest = std::max(longest, ttl_ms);
  }
  return longest;
}

void UidQuarantine::add(TimestampMs freed_ms, const IdSet& ids) {
  if (!ids.isEmpty()) by_time_[freed_ms] |= ids;
}

void UidQuarantine::keep_only(const IdSet& ids) {
  for (auto& [freed_ms, freed] : by_time_) freed &= ids;
  std::erase_if(by_time_, [](const auto& entry) { return entry.second.isEmpty(); });
}

IdSet UidQuarantine::all() const {
  IdSet ids;
  for (const auto& [freed_ms, freed] : by_time_) ids |= freed;
  return ids;
}

std::uint64_t UidQuarantine::size() const {
  std::uint64_t count = 0;
  for (const auto& [freed_ms, freed] : by_time_) count += freed.cardinality();
  return count;
}

std::optional<TimestampMs> UidQuarantine::oldest_ms() const {
  if (by_time_.empty()) return std::nullopt;
  return by_time_.begin()->first;
}

IdSet UidQuarantine::release(std::optional<TimestampMs> freed_until_ms, std::uint64_t wanted) {
  IdSet released;
  while (!by_time_.empty()) {
    auto& [freed_ms, freed] = *by_time_.begin();
    const bool over = freed_until_ms && freed_ms <= *freed_until_ms;
    const std::uint64_t have = released.cardinality();
    if (!over && have >= wanted) break;
    const IdSet some = over ? freed : least(freed, wanted - have);
    released |= some;
    freed -= some;
    if (freed.isEmpty()) by_time_.erase(by_time_.begin());
  }
  return released;
}

}  // namespace halite::storage::engine
