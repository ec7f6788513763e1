#define XXH_INLINE_ALL
#include "ingest/series_cache/series_cache_segment.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <xxhash.h>

namespace halite::ingest {
namespace {

constexpr std::size_t kSlotsInitial = 16;
constexpr std::size_t kChunkBytesMax = 64 << 10;

}  // namespace

template <class Entry>
auto CacheSegment::EntryShard<Entry>::table_with_space(Budget& budget, std::size_t& lost)
    -> Table* {
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

template <class Entry>
char* CacheSegment::EntryShard<Entry>::allocate(Budget& budget, std::size_t bytes) {
  constexpr std::size_t kAlign = alignof(Entry);
  const std::size_t needed = (bytes + kAlign - 1) / kAlign * kAlign;
  if (chunk_used + needed > chunk_size) {
    const std::size_t regular =
        std::clamp(budget.bytes_max.load() / kShards / 32, std::size_t{256}, kChunkBytesMax);
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

const CachedKey* CacheSegment::find_in(const KeyTable& table, const SeriesKey& key,
                                       std::uint64_t hash) {
  return table.find(hash, [&key, hash](const CachedKey& entry) {
    return entry.hash == hash && entry.grammar == key.grammar && entry.metric() == key.metric &&
           entry.tags() == key.tags;
  });
}

void CacheSegment::prefetch_slot(std::uint64_t hash) const {
  if (const KeyTable* const known = table(hash)) known->prefetch_slot(hash);
}

void CacheSegment::prefetch_entry(std::uint64_t hash) const {
  const KeyTable* const known = table(hash);
  if (known == nullptr) return;
  if (const CachedKey* const entry = known->likely(hash)) __builtin_prefetch(entry);
}

void CacheSegment::prefetch_text(std::uint64_t hash, std::size_t tags_bytes) const {
  constexpr std::size_t kLine = 64;
  const KeyTable* const known = table(hash);
  if (known == nullptr) return;
  const CachedKey* const entry = known->likely(hash);
  if (entry == nullptr) return;
  const auto* const text = reinterpret_cast<const char*>(entry->tags_text);
  const std::size_t bytes = sizeof(CachedText) + tags_bytes;
  for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(text + at);
}

const CachedKey* CacheSegment::find(const SeriesKey& key, std::uint64_t hash) const {
  const KeyTable* const known = table(hash);
  return known == nullptr ? nullptr : find_in(*known, key, hash);
}

bool CacheSegment::insert(const SeriesKey& key, std::uint64_t hash, storage::SeriesId id) {
  if (full_.load(std::memory_order_relaxed)) return false;
  const bool inserted = insert_with_space(key, hash, id);
  if (!inserted) full_.store(true, std::memory_order_relaxed);
  return inserted;
}

bool CacheSegment::insert_with_space(const SeriesKey& key, std::uint64_t hash,
                                     storage::SeriesId id) {
  const std::size_t text_bytes = key.metric.size() + key.tags.size();
  const std::size_t bytes = sizeof(CachedKey) + (2 * sizeof(CachedText)) + text_bytes;
  if (bytes > budget_.bytes_max / kShards) return true;
  const CachedText* const metric = text(key.metric);
  const CachedText* const tags = text(key.tags);
  if (metric == nullptr || tags == nullptr) return false;
  EntryShard<CachedKey>& shard = keys_in_[shard_of(hash)];
  const std::scoped_lock lock(shard.mutex);
  const KeyTable* const known = shard.table.load(std::memory_order_relaxed);
  if (known != nullptr && find_in(*known, key, hash) != nullptr) return true;
  std::size_t lost = 0;
  KeyTable* const table = shard.table_with_space(budget_, lost);
  keys_.fetch_sub(lost, std::memory_order_relaxed);
  if (table == nullptr) return false;
  char* const place = shard.allocate(budget_, sizeof(CachedKey));
  if (place == nullptr) return false;
  auto* const entry = new (place) CachedKey{.hash = hash,
                                            .next = nullptr,
                                            .later = nullptr,
                                            .metric_text = metric,
                                            .tags_text = tags,
                                            .id = id,
                                            .grammar = key.grammar,
                                            .use = 0};
  if (!table->place(entry)) return true;
  ++shard.entries;
  keys_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

const CachedText* CacheSegment::text(std::string_view bytes) {
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

void CacheSegment::resize(std::size_t bytes_max) {
  budget_.bytes_max = bytes_max;
  full_.store(false, std::memory_order_relaxed);
}

void CacheSegment::begin_count(std::uint8_t use) {
  use_.store(use, std::memory_order_relaxed);
  in_use_.store(0, std::memory_order_relaxed);
}

void CacheSegment::add_to_use(const CachedKey& found, std::uint8_t use) {
  if (use_.load(std::memory_order_relaxed) != use) return;  // the reader has an earlier view
  if (found.use.exchange(use, std::memory_order_relaxed) == use) return;
  in_use_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace halite::ingest
