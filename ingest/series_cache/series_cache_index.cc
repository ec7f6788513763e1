#include "ingest/series_cache/series_cache_index.h"

#include <algorithm>

namespace halite::ingest {
namespace {

constexpr unsigned kSizeBitsMin = 3;  // of buckets
constexpr unsigned kSizeBitsMax = 26;
constexpr std::uint32_t kReplacedEach = 16;

}  // namespace

std::atomic<std::uint64_t>* SeriesCacheIndex::slot_for(Table& table, std::uint64_t value) {
  std::atomic<std::uint64_t>* best = nullptr;
  std::size_t best_room = 0;
  for (const std::size_t at : table.places(tag_in(value))) {
    auto& slots = table.buckets[at].slots;
    const auto found = std::ranges::find_if(slots, [value](const auto& slot) {
      const std::uint64_t present = slot.load(std::memory_order_relaxed);
      return present == kFree || present == value;
    });
    if (found == slots.end()) continue;
    if (found->load(std::memory_order_relaxed) == value) return &*found;
    const auto room = static_cast<std::size_t>(slots.end() - found);
    if (room <= best_room) continue;
    best = &*found;
    best_room = room;
  }
  return best;
}

SeriesCacheIndex::Table* SeriesCacheIndex::table_with_room(Shard& shard) {
  Table* const before = shard.table.load(std::memory_order_relaxed);
  if (before != nullptr && shard.keys < before->buckets.size() * 6) return before;
  const unsigned size_bits = before == nullptr ? kSizeBitsMin : before->size_bits + 1;
  const std::size_t bytes = (std::size_t{1} << size_bits) * sizeof(Bucket);
  if (size_bits > kSizeBitsMax || shard.bytes + bytes > bytes_max_.load(std::memory_order_relaxed))
    return before;
  auto after = std::make_unique<Table>(size_bits);
  if (before != nullptr) {
    shard.keys = 0;
    for (const Bucket& bucket : before->buckets) {
      for (const std::atomic<std::uint64_t>& slot : bucket.slots) {
        const std::uint64_t value = slot.load(std::memory_order_relaxed);
        if (value == kFree) break;
        std::atomic<std::uint64_t>* const to = slot_for(*after, value);
        if (to == nullptr) continue;
        to->store(value, std::memory_order_relaxed);
        ++shard.keys;
      }
    }
  }
  shard.bytes += bytes;
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  shard.tables.push_back(std::move(after));
  shard.table.store(shard.tables.back().get(), std::memory_order_release);
  return shard.tables.back().get();
}

void SeriesCacheIndex::insert(std::uint64_t hash, storage::SeriesId id) {
  Shard& shard = shards_[hash % kShards];
  const std::scoped_lock lock(shard.mutex);
  Table* const table = table_with_room(shard);
  if (table == nullptr) return;
  const std::uint32_t tag = tag_of(hash);
  const std::uint64_t value = slot_of(tag, id);
  std::atomic<std::uint64_t>* slot = slot_for(*table, value);
  if (slot == nullptr) {
    if (++shard.turned_away % kReplacedEach != 0) return;
    const std::uint32_t turn = shard.turned_away / kReplacedEach;
    const std::size_t at = table->places(tag)[turn % 2];
    slot = &table->buckets[at].slots[turn / 2 % table->buckets[at].slots.size()];
  } else if (slot->load(std::memory_order_relaxed) == kFree) {
    ++shard.keys;
  }
  slot->store(value, std::memory_order_release);
}

}  // namespace halite::ingest
