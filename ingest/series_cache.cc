#define XXH_INLINE_ALL
#include "ingest/series_cache.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include <xxhash.h>

#include "common/check.h"

namespace halite::ingest {
namespace {

constexpr std::size_t kShards = 16;
constexpr std::size_t kSlotsInitial = 16;
// A key that finds no place within so many slots is not kept: this bounds a look-up whatever keys
// are sent.
constexpr std::size_t kProbesMax = 64;
constexpr std::size_t kChunkBytesMax = 64 << 10;

bool is(const CachedKey& entry, const SeriesKey& key, std::uint64_t hash) {
  return entry.hash == hash && entry.metric_bytes == key.metric.size() &&
         entry.tags_bytes == key.tags.size() && entry.grammar == key.grammar &&
         std::memcmp(entry.bytes(), key.metric.data(), entry.metric_bytes) == 0 &&
         std::memcmp(entry.bytes() + entry.metric_bytes, key.tags.data(), entry.tags_bytes) == 0;
}

std::size_t entry_bytes(const SeriesKey& key) {
  const std::size_t bytes = sizeof(CachedKey) + key.metric.size() + key.tags.size();
  return (bytes + alignof(CachedKey) - 1) / alignof(CachedKey) * alignof(CachedKey);
}

// A slot is an entry's address with 16 bits of its hash above it, or 0. Addresses have 48 bits.
constexpr unsigned kAddressBits = 48;

std::uint64_t tag_of(std::uint64_t hash) { return hash >> 48 << kAddressBits; }

std::uint64_t slot_of(const CachedKey* entry) {
  const auto address = reinterpret_cast<std::uintptr_t>(entry);
  HALITE_CHECK(address >> kAddressBits == 0, "addresses have 48 bits");
  return tag_of(entry->hash) | address;
}

const CachedKey* entry_of(std::uint64_t slot) {
  constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << kAddressBits) - 1;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<const CachedKey*>(slot & kAddressMask);
}

// Open addressing with linear probing; entries only ever come.
struct Table {
  explicit Table(std::size_t size) : mask(size - 1), slots(size) {}

  [[nodiscard]] std::size_t bytes() const { return sizeof(Table) + (slots.size() * 8); }
  [[nodiscard]] const std::atomic<std::uint64_t>& home(std::uint64_t hash) const {
    return slots[hash & mask];
  }

  [[nodiscard]] const CachedKey* find(const SeriesKey& key, std::uint64_t hash) const {
    for (std::size_t i = 0; i < std::min(kProbesMax, slots.size()); ++i) {
      const std::uint64_t slot = slots[(hash + i) & mask].load(std::memory_order_acquire);
      if (slot == 0) return nullptr;
      if (tag_of(slot) != tag_of(hash)) continue;
      const CachedKey* entry = entry_of(slot);
      if (is(*entry, key, hash)) return entry;
    }
    return nullptr;
  }

  // False: no place near enough.
  bool place(const CachedKey* entry) {
    for (std::size_t i = 0; i < std::min(kProbesMax, slots.size()); ++i) {
      std::atomic<std::uint64_t>& slot = slots[(entry->hash + i) & mask];
      if (slot.load(std::memory_order_relaxed) != 0) continue;
      slot.store(slot_of(entry), std::memory_order_release);
      return true;
    }
    return false;
  }

  const std::size_t mask;
  std::vector<std::atomic<std::uint64_t>> slots;
};

std::size_t shard_of(std::uint64_t hash) { return (hash >> 40) % kShards; }

}  // namespace

enum class Inserted : std::uint8_t { kYes, kNoRoom, kNever };

class SeriesCache::Generation {
 public:
  explicit Generation(std::size_t bytes_max)
      : bytes_max_(bytes_max),
        chunk_bytes_(std::clamp(bytes_max / kShards / 16, std::size_t{256}, kChunkBytesMax)) {}

  [[nodiscard]] const Table* table(std::uint64_t hash) const {
    return shards_[shard_of(hash)].table.load(std::memory_order_acquire);
  }

  [[nodiscard]] const CachedKey* find(const SeriesKey& key, std::uint64_t hash) const {
    const Table* const known = table(hash);
    return known == nullptr ? nullptr : known->find(key, hash);
  }

  Inserted insert(const SeriesKey& key, std::uint64_t hash, storage::SeriesId id) {
    const std::size_t needed = entry_bytes(key);
    if (needed > bytes_max_ / kShards) return Inserted::kNever;
    Shard& shard = shards_[shard_of(hash)];
    const std::scoped_lock lock(shard.mutex);
    Table* table = shard.table.load(std::memory_order_relaxed);
    if (table != nullptr && table->find(key, hash) != nullptr) return Inserted::kYes;
    if (table == nullptr || (shard.keys + 1) * 10 > table->slots.size() * 6) {
      table = grow(shard);
      if (table == nullptr) return Inserted::kNoRoom;
    }
    char* const place = allocate(shard, needed);
    if (place == nullptr) return Inserted::kNoRoom;
    auto* const entry =
        new (place) CachedKey{.hash = hash,
                              .next = nullptr,
                              .id = id,
                              .metric_bytes = static_cast<std::uint32_t>(key.metric.size()),
                              .tags_bytes = static_cast<std::uint32_t>(key.tags.size()),
                              .grammar = key.grammar};
    char* const bytes = place + sizeof(CachedKey);
    std::memcpy(bytes, key.metric.data(), key.metric.size());
    std::memcpy(bytes + key.metric.size(), key.tags.data(), key.tags.size());
    if (!table->place(entry)) return Inserted::kNever;
    ++shard.keys;
    keys_.fetch_add(1, std::memory_order_relaxed);
    return Inserted::kYes;
  }

  [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t keys() const { return keys_.load(std::memory_order_relaxed); }

 private:
  struct Shard {
    std::atomic<Table*> table{nullptr};
    std::mutex mutex;  // guards all that follows, and changes of `table`
    std::size_t keys = 0;
    // All tables there were: a look-up may still be in an earlier one.
    std::vector<std::unique_ptr<Table>> tables;
    std::vector<std::unique_ptr<char[]>> chunks;
    std::size_t chunk_used = 0;
    std::size_t chunk_size = 0;
  };

  bool reserve(std::size_t bytes) {
    if (bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= bytes_max_) return true;
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }

  Table* grow(Shard& shard) {
    const Table* const before = shard.table.load(std::memory_order_relaxed);
    auto after =
        std::make_unique<Table>(before == nullptr ? kSlotsInitial : before->slots.size() * 2);
    if (!reserve(after->bytes())) return nullptr;
    if (before != nullptr) {
      for (const auto& slot : before->slots) {
        const std::uint64_t value = slot.load(std::memory_order_relaxed);
        if (value != 0 && !after->place(entry_of(value))) {
          keys_.fetch_sub(1, std::memory_order_relaxed);
          --shard.keys;
        }
      }
    }
    shard.tables.push_back(std::move(after));
    Table* const table = shard.tables.back().get();
    shard.table.store(table, std::memory_order_release);
    return table;
  }

  char* allocate(Shard& shard, std::size_t bytes) {
    if (shard.chunk_used + bytes > shard.chunk_size) {
      const std::size_t size = std::max(chunk_bytes_, bytes);
      if (!reserve(size)) return nullptr;
      shard.chunks.push_back(std::make_unique_for_overwrite<char[]>(size));
      shard.chunk_used = 0;
      shard.chunk_size = size;
    }
    char* const place = shard.chunks.back().get() + shard.chunk_used;
    shard.chunk_used += bytes;
    return place;
  }

  const std::size_t bytes_max_;
  const std::size_t chunk_bytes_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::size_t> keys_{0};
  std::array<Shard, kShards> shards_;
};

SeriesCache::SeriesCache(std::size_t bytes_max, std::uint64_t seed)
    : generation_bytes_max_(bytes_max / 2), seed_(seed) {
  view_ = {.younger = std::make_shared<Generation>(generation_bytes_max_),
           .older = std::make_shared<Generation>(generation_bytes_max_),
           .epoch = 0};
}

SeriesCache::~SeriesCache() = default;

std::uint64_t SeriesCache::hash(const SeriesKey& key) const {
  const std::uint64_t seed = seed_ + static_cast<std::uint64_t>(key.grammar);
  const std::uint64_t metric = XXH3_64bits_withSeed(key.metric.data(), key.metric.size(), seed);
  return XXH3_64bits_withSeed(key.tags.data(), key.tags.size(), metric);
}

SeriesCache::View SeriesCache::view() const {
  const std::scoped_lock lock(mutex_);
  return view_;
}

SeriesCache::Reader SeriesCache::reader() { return Reader(*this); }

std::uint64_t SeriesCache::epoch() const { return view().epoch; }

void SeriesCache::clear() {
  auto younger = std::make_shared<Generation>(generation_bytes_max_);
  auto older = std::make_shared<Generation>(generation_bytes_max_);
  const std::scoped_lock lock(mutex_);
  view_ = {.younger = std::move(younger), .older = std::move(older), .epoch = view_.epoch + 1};
  turns_.fetch_add(1, std::memory_order_release);
}

void SeriesCache::insert(const SeriesKey& key, std::uint64_t hash, storage::SeriesId id,
                         std::uint64_t epoch) {
  // A fresh generation has room for any key it takes at all; a few turns of other threads may come
  // between.
  for (int attempt = 0; attempt < 4; ++attempt) {
    const View now = view();
    if (now.epoch != epoch) return;  // cleared meanwhile
    const std::shared_ptr<Generation>& younger = now.younger;
    if (younger->insert(key, hash, id) != Inserted::kNoRoom) return;
    turn(younger.get());
  }
}

void SeriesCache::turn(const Generation* full) {
  auto fresh = std::make_shared<Generation>(generation_bytes_max_);
  const std::scoped_lock lock(mutex_);
  if (view_.younger.get() != full) return;
  view_.older = std::exchange(view_.younger, std::move(fresh));
  turns_.fetch_add(1, std::memory_order_release);
}

std::size_t SeriesCache::bytes() const {
  const View now = view();
  return now.younger->bytes() + now.older->bytes();
}

std::size_t SeriesCache::keys() const {
  const View now = view();
  return now.younger->keys() + now.older->keys();
}

SeriesCache::Reader::Reader(SeriesCache& cache)
    : cache_(&cache), turns_(cache.turns_.load(std::memory_order_acquire)), view_(cache.view()) {}

void SeriesCache::Reader::refresh() {
  const std::uint64_t turns = cache_->turns_.load(std::memory_order_acquire);
  if (turns == turns_) return;
  turns_ = turns;
  view_ = cache_->view();
  last_ = expected_ = nullptr;
}

void SeriesCache::Reader::prefetch_slot(std::uint64_t hash) const {
  if (const Table* const table = view_.younger->table(hash)) __builtin_prefetch(&table->home(hash));
}

void SeriesCache::Reader::prefetch_entry(const SeriesKey& key, std::uint64_t hash) const {
  constexpr std::size_t kLine = 64;
  const Table* const table = view_.younger->table(hash);
  if (table == nullptr) return;
  const std::uint64_t slot = table->home(hash).load(std::memory_order_acquire);
  if (slot == 0) return;
  const auto* const entry = reinterpret_cast<const char*>(entry_of(slot));
  const std::size_t bytes = entry_bytes(key);
  for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(entry + at);
}

std::optional<storage::SeriesId> SeriesCache::Reader::find(const SeriesKey& key,
                                                           std::uint64_t hash) const {
  if (const CachedKey* const entry = view_.younger->find(key, hash)) return entry->id;
  const CachedKey* const entry = view_.older->find(key, hash);
  if (entry == nullptr) return std::nullopt;
  cache_->insert(key, hash, entry->id, view_.epoch);
  return entry->id;
}

std::optional<storage::SeriesId> SeriesCache::Reader::find_in_order(const SeriesKey& key,
                                                                    std::uint64_t hash) {
  const CachedKey* const entry = view_.younger->find(key, hash);
  if (entry == nullptr) {
    last_ = expected_ = nullptr;
    return find(key, hash);
  }
  if (last_ != nullptr && expected_ != entry) {
    last_->next.store(entry, std::memory_order_release);
  }
  step(entry);
  return entry->id;
}

}  // namespace halite::ingest
