#define XXH_INLINE_ALL
#include "ingest/series_cache.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include <xxhash.h>

#include "ingest/cache_table.h"

namespace halite::ingest {
namespace {

constexpr std::size_t kShards = 16;
constexpr std::size_t kSlotsInitial = 16;
constexpr std::size_t kChunkBytesMax = 64 << 10;

using KeyTable = CacheTable<CachedKey>;
using TextTable = CacheTable<CachedText>;

const CachedKey* find_in(const KeyTable& table, const SeriesKey& key, std::uint64_t hash) {
  return table.find(hash, [&key, hash](const CachedKey& entry) {
    return entry.hash == hash && entry.grammar == key.grammar && entry.metric() == key.metric &&
           entry.tags() == key.tags;
  });
}

std::size_t shard_of(std::uint64_t hash) { return (hash >> 40) % kShards; }

// The memory limit of a half.
class Budget {
 public:
  explicit Budget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  bool reserve(std::size_t bytes) {
    if (bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= bytes_max_) return true;
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  [[nodiscard]] std::size_t bytes_max() const { return bytes_max_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> bytes_{0};
};

// Entries of one kind in one shard: a table and its memory. `mutex` guards everything except reads
// of the table.
template <class Entry>
struct EntryShard {
  using Table = CacheTable<Entry>;

  std::atomic<Table*> table{nullptr};
  std::mutex mutex;
  std::size_t entries = 0;
  // All tables so far: a look-up may still use an earlier one.
  std::vector<std::unique_ptr<Table>> tables;
  std::vector<std::unique_ptr<char[]>> chunks;
  std::size_t chunk_used = 0;
  std::size_t chunk_size = 0;

  // A table with space for one more entry; null if the budget is exhausted. Adds to `lost` the
  // entries that did not fit into a larger table.
  Table* table_with_space(Budget& budget, std::size_t& lost) {
    Table* const before = table.load(std::memory_order_relaxed);
    if (before != nullptr && (entries + 1) * 10 <= before->size() * 6) return before;
    const std::size_t size = before == nullptr ? kSlotsInitial : before->size() * 2;
    if (!budget.reserve(Table::bytes_of(size))) return nullptr;
    auto after = std::make_unique<Table>(size);
    if (before != nullptr) {
      const std::size_t dropped = after->place_all(*before);
      entries -= dropped;
      lost += dropped;
    }
    tables.push_back(std::move(after));
    table.store(tables.back().get(), std::memory_order_release);
    return tables.back().get();
  }

  // Null if the budget is exhausted.
  char* allocate(Budget& budget, std::size_t bytes) {
    constexpr std::size_t kAlign = alignof(Entry);
    const std::size_t needed = (bytes + kAlign - 1) / kAlign * kAlign;
    if (chunk_used + needed > chunk_size) {
      const std::size_t regular =
          std::clamp(budget.bytes_max() / kShards / 32, std::size_t{256}, kChunkBytesMax);
      const std::size_t size = std::max(regular, needed);
      if (!budget.reserve(size)) return nullptr;
      chunks.push_back(std::make_unique_for_overwrite<char[]>(size));
      chunk_used = 0;
      chunk_size = size;
    }
    char* const place = chunks.back().get() + chunk_used;
    chunk_used += needed;
    return place;
  }
};

}  // namespace

enum class Inserted : std::uint8_t { kYes, kNoSpace, kNever };

class SeriesCache::Half {
 public:
  Half(std::size_t bytes_max, std::uint64_t seed) : budget_(bytes_max), seed_(seed) {}

  [[nodiscard]] const KeyTable* table(std::uint64_t hash) const {
    return keys_in_[shard_of(hash)].table.load(std::memory_order_acquire);
  }

  [[nodiscard]] const CachedKey* find(const SeriesKey& key, std::uint64_t hash) const {
    const KeyTable* const known = table(hash);
    return known == nullptr ? nullptr : find_in(*known, key, hash);
  }

  Inserted insert(const SeriesKey& key, std::uint64_t hash, storage::SeriesId id) {
    const std::size_t text_bytes = key.metric.size() + key.tags.size();
    const std::size_t bytes = sizeof(CachedKey) + (2 * sizeof(CachedText)) + text_bytes;
    if (bytes > budget_.bytes_max() / kShards) return Inserted::kNever;
    const CachedText* const metric = text(key.metric);
    const CachedText* const tags = text(key.tags);
    if (metric == nullptr || tags == nullptr) return Inserted::kNoSpace;
    EntryShard<CachedKey>& shard = keys_in_[shard_of(hash)];
    const std::scoped_lock lock(shard.mutex);
    const KeyTable* const known = shard.table.load(std::memory_order_relaxed);
    if (known != nullptr && find_in(*known, key, hash) != nullptr) return Inserted::kYes;
    std::size_t lost = 0;
    KeyTable* const table = shard.table_with_space(budget_, lost);
    keys_.fetch_sub(lost, std::memory_order_relaxed);
    if (table == nullptr) return Inserted::kNoSpace;
    char* const place = shard.allocate(budget_, sizeof(CachedKey));
    if (place == nullptr) return Inserted::kNoSpace;
    auto* const entry = new (place) CachedKey{.hash = hash,
                                              .next = nullptr,
                                              .later = nullptr,
                                              .metric_text = metric,
                                              .tags_text = tags,
                                              .id = id,
                                              .grammar = key.grammar};
    if (!table->place(entry)) return Inserted::kNever;
    ++shard.entries;
    keys_.fetch_add(1, std::memory_order_relaxed);
    return Inserted::kYes;
  }

  [[nodiscard]] std::size_t bytes() const { return budget_.bytes(); }
  [[nodiscard]] std::size_t keys() const { return keys_.load(std::memory_order_relaxed); }

 private:
  // The stored text; null if the budget is exhausted. A text without a slot in its table is stored
  // again each time, which only costs memory.
  const CachedText* text(std::string_view bytes) {
    const std::uint64_t hash = XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed_);
    EntryShard<CachedText>& shard = texts_in_[shard_of(hash)];
    const std::scoped_lock lock(shard.mutex);
    if (const TextTable* const known = shard.table.load(std::memory_order_relaxed)) {
      const auto is = [bytes](const CachedText& entry) { return entry.text() == bytes; };
      if (const CachedText* const kept = known->find(hash, is)) return kept;
    }
    std::size_t lost = 0;
    TextTable* const table = shard.table_with_space(budget_, lost);
    if (table == nullptr) return nullptr;
    char* const place = shard.allocate(budget_, sizeof(CachedText) + bytes.size());
    if (place == nullptr) return nullptr;
    auto* const entry =
        new (place) CachedText{.hash = hash, .bytes = static_cast<std::uint32_t>(bytes.size())};
    std::memcpy(place + sizeof(CachedText), bytes.data(), bytes.size());
    if (table->place(entry)) ++shard.entries;
    return entry;
  }

  Budget budget_;
  const std::uint64_t seed_;
  std::atomic<std::size_t> keys_{0};
  std::array<EntryShard<CachedKey>, kShards> keys_in_;
  std::array<EntryShard<CachedText>, kShards> texts_in_;
};

SeriesCache::SeriesCache(std::size_t bytes_max, std::uint64_t seed)
    : half_bytes_max_(bytes_max / 2), seed_(seed) {
  view_ = {.young = std::make_shared<Half>(half_bytes_max_, seed_),
           .old = std::make_shared<Half>(half_bytes_max_, seed_),
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
  auto young = std::make_shared<Half>(half_bytes_max_, seed_);
  auto old = std::make_shared<Half>(half_bytes_max_, seed_);
  const std::scoped_lock lock(mutex_);
  view_ = {.young = std::move(young), .old = std::move(old), .epoch = view_.epoch + 1};
  rotations_.fetch_add(1, std::memory_order_release);
}

void SeriesCache::clear_before(std::uint64_t store_epoch) {
  if (store_epoch_.load(std::memory_order_acquire) >= store_epoch) return;
  const std::scoped_lock lock(clearing_);
  if (store_epoch_.load(std::memory_order_relaxed) >= store_epoch) return;
  clear();
  store_epoch_.store(store_epoch, std::memory_order_release);
}

void SeriesCache::insert(const SeriesKey& key, std::uint64_t hash, storage::SeriesId id,
                         std::uint64_t epoch) {
  // A new half has space for any key that the cache accepts. Other threads may rotate in between.
  for (int attempt = 0; attempt < 4; ++attempt) {
    const View now = view();
    if (now.epoch != epoch) return;  // cleared meanwhile
    const std::shared_ptr<Half>& young = now.young;
    if (young->insert(key, hash, id) != Inserted::kNoSpace) return;
    rotate(young.get());
  }
}

void SeriesCache::rotate(const Half* full) {
  auto fresh = std::make_shared<Half>(half_bytes_max_, seed_);
  const std::scoped_lock lock(mutex_);
  if (view_.young.get() != full) return;
  view_.old = std::exchange(view_.young, std::move(fresh));
  rotations_.fetch_add(1, std::memory_order_release);
}

std::size_t SeriesCache::bytes() const {
  const View now = view();
  return now.young->bytes() + now.old->bytes();
}

std::size_t SeriesCache::keys() const {
  const View now = view();
  return now.young->keys() + now.old->keys();
}

SeriesCache::Reader::Reader(SeriesCache& cache)
    : cache_(&cache),
      rotations_(cache.rotations_.load(std::memory_order_acquire)),
      view_(cache.view()) {}

void SeriesCache::Reader::refresh() {
  const std::uint64_t turns = cache_->rotations_.load(std::memory_order_acquire);
  if (turns == rotations_) return;
  rotations_ = turns;
  view_ = cache_->view();
  lose_order();
}

void SeriesCache::Reader::prefetch_slot(std::uint64_t hash) const {
  if (const KeyTable* const table = view_.young->table(hash)) table->prefetch_slot(hash);
}

void SeriesCache::Reader::prefetch_entry(std::uint64_t hash) const {
  const KeyTable* const table = view_.young->table(hash);
  if (table == nullptr) return;
  if (const CachedKey* const entry = table->first(hash)) __builtin_prefetch(entry);
}

void SeriesCache::Reader::prefetch_text(const SeriesKey& key, std::uint64_t hash) const {
  constexpr std::size_t kLine = 64;
  const KeyTable* const table = view_.young->table(hash);
  if (table == nullptr) return;
  const CachedKey* const entry = table->first(hash);
  if (entry == nullptr) return;
  const auto* const text = reinterpret_cast<const char*>(entry->tags_text);
  const std::size_t bytes = sizeof(CachedText) + key.tags.size();
  for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(text + at);
}

std::optional<storage::SeriesId> SeriesCache::Reader::find(const SeriesKey& key,
                                                           std::uint64_t hash) const {
  if (const CachedKey* const entry = view_.young->find(key, hash)) return entry->id;
  const CachedKey* const entry = view_.old->find(key, hash);
  if (entry == nullptr) return std::nullopt;
  cache_->insert(key, hash, entry->id, view_.epoch);
  return entry->id;
}

std::optional<storage::SeriesId> SeriesCache::Reader::find_in_order(const SeriesKey& key,
                                                                    std::uint64_t hash) {
  const CachedKey* const entry = view_.young->find(key, hash);
  if (entry == nullptr) {
    lose_order();
    return find(key, hash);
  }
  if (last_ != nullptr && expected_ != entry) {
    last_->next.store(entry, std::memory_order_release);
  }
  step(entry);
  return entry->id;
}

}  // namespace halite::ingest
