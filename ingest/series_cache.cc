// Over 400 lines because segments, the cache and its readers share the layout of an entry.
#define XXH_INLINE_ALL
#include "ingest/series_cache.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include <xxhash.h>

#include "ingest/series_cache_table.h"
#include "ingest/series_key_match.h"

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

// The memory limit of a segment.
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

class SeriesCache::Segment {
 public:
  Segment(std::size_t bytes_max, std::uint64_t seed) : budget_(bytes_max), seed_(seed) {}

  [[nodiscard]] const KeyTable* table(std::uint64_t hash) const {
    return keys_in_[shard_of(hash)].table.load(std::memory_order_acquire);
  }

  [[nodiscard]] const CachedKey* find(const SeriesKey& key, std::uint64_t hash) const {
    const KeyTable* const known = table(hash);
    return known == nullptr ? nullptr : find_in(*known, key, hash);
  }

  Inserted insert(const SeriesKey& key, std::uint64_t hash, storage::SeriesId id) {
    if (full_.load(std::memory_order_relaxed)) return Inserted::kNoSpace;
    const Inserted inserted = insert_with_space(key, hash, id);
    if (inserted == Inserted::kNoSpace) full_.store(true, std::memory_order_relaxed);
    return inserted;
  }

  [[nodiscard]] std::size_t bytes() const { return budget_.bytes(); }
  [[nodiscard]] std::size_t keys() const { return keys_.load(std::memory_order_relaxed); }

  // Counts the texts in use: `use` is the number of the count.
  void begin_count(std::uint8_t use) {
    use_.store(use, std::memory_order_relaxed);
    in_use_.store(0, std::memory_order_relaxed);
  }
  void add_to_use(const CachedKey& found, std::uint8_t use) {
    if (use_.load(std::memory_order_relaxed) != use) return;  // the reader has an earlier view
    if (found.use.exchange(use, std::memory_order_relaxed) == use) return;
    in_use_.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t in_use() const { return in_use_.load(std::memory_order_relaxed); }

 private:
  Inserted insert_with_space(const SeriesKey& key, std::uint64_t hash, storage::SeriesId id) {
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
                                              .grammar = key.grammar,
                                              .use = 0};
    if (!table->place(entry)) return Inserted::kNever;
    ++shard.entries;
    keys_.fetch_add(1, std::memory_order_relaxed);
    return Inserted::kYes;
  }

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
  std::atomic<std::uint8_t> use_{0};
  std::atomic<std::size_t> in_use_{0};
  std::atomic<bool> full_{false};
  std::array<EntryShard<CachedKey>, kShards> keys_in_;
  std::array<EntryShard<CachedText>, kShards> texts_in_;
};

SeriesCache::SeriesCache(std::size_t bytes_max, std::uint64_t seed,
                         const storage::BlockSource* names)
    : segment_bytes_max_((names == nullptr ? bytes_max : bytes_max / 4 * 3) / kSegments),
      index_bytes_max_(names == nullptr ? 0 : bytes_max / 4),
      seed_(seed),
      names_(names),
      view_(empty_view(0)) {}

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

SeriesCache::Reader SeriesCache::reader(const storage::SeriesPin& pin) {
  clear_before(pin.series_epoch);
  return Reader(*this);
}

std::uint64_t SeriesCache::epoch() const { return view().epoch; }

SeriesCache::View SeriesCache::empty_view(std::uint64_t epoch) const {
  View view{.segments = {}, .index = nullptr, .epoch = epoch};
  for (auto& segment : view.segments) {
    segment = std::make_shared<Segment>(segment_bytes_max_, seed_);
  }
  if (names_ != nullptr) view.index = std::make_shared<KeyIndex>(index_bytes_max_);
  return view;
}

void SeriesCache::clear() {
  View old;  // freed without the lock
  {
    const std::scoped_lock lock(mutex_);
    old = std::exchange(view_, empty_view(view_.epoch + 1));
    changes_.fetch_add(1, std::memory_order_release);
  }
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
  const View now = view();
  if (now.epoch != epoch) return;  // cleared meanwhile
  if (now.index != nullptr) now.index->insert(hash, id);
  if (now.use == 0) {
    insert_text(now, key, hash, id);
  } else {
    turned_away(now, 1);
  }
}

void SeriesCache::insert_text(const View& view, const SeriesKey& key, std::uint64_t hash,
                              storage::SeriesId id) {
  for (const std::shared_ptr<Segment>& segment : view.segments) {
    if (segment->insert(key, hash, id) != Inserted::kNoSpace) return;
  }
  turned_away(view, 1);
}

void SeriesCache::turned_away(const View& seen, std::uint64_t texts) {
  constexpr std::uint64_t kEach = 32;  // texts turned away for each text until the count ends
  constexpr std::uint64_t kTextsMin = 1024;
  const std::uint64_t count = turned_away_.fetch_add(texts, std::memory_order_relaxed) + texts;
  const std::uint64_t kept = seen.segments[0]->keys() + seen.segments[1]->keys();
  if (seen.use != 0 && count < std::max(kept, kTextsMin) * kEach) return;
  std::vector<std::shared_ptr<Segment>> replaced;  // freed without the lock
  const std::scoped_lock lock(mutex_);
  if (view_.segments != seen.segments || view_.use != seen.use) return;
  if (seen.use != 0) replaced = make_room();
  if (replaced.empty()) {
    // The next count. Its number tells keys that were found in it from others.
    view_.use = last_use_ = last_use_ == 255 ? 1 : last_use_ + 1;
    for (const std::shared_ptr<Segment>& segment : view_.segments) {
      segment->begin_count(view_.use);
    }
    turned_away_.store(0, std::memory_order_relaxed);
  } else {
    view_.use = 0;
  }
  changes_.fetch_add(1, std::memory_order_release);
}

std::vector<std::shared_ptr<SeriesCache::Segment>> SeriesCache::make_room() {
  auto& [first, second] = view_.segments;
  auto& least = second->in_use() < first->in_use() ? second : first;
  auto& most = &least == &first ? second : first;
  std::vector<std::shared_ptr<Segment>> replaced;
  if (least->in_use() * 8 >= least->keys() * 7) return replaced;
  const bool both = most->in_use() * 8 < most->keys();
  replaced.push_back(std::exchange(least, std::make_shared<Segment>(segment_bytes_max_, seed_)));
  if (both) {
    replaced.push_back(std::exchange(most, std::make_shared<Segment>(segment_bytes_max_, seed_)));
  }
  return replaced;
}

std::size_t SeriesCache::bytes() const {
  const View now = view();
  const std::size_t texts = now.segments[0]->bytes() + now.segments[1]->bytes();
  return texts + (now.index == nullptr ? 0 : now.index->bytes());
}

std::size_t SeriesCache::keys() const {
  const View now = view();
  return now.segments[0]->keys() + now.segments[1]->keys();
}

SeriesCache::Reader::Reader(SeriesCache& cache)
    : cache_(&cache),
      changes_(cache.changes_.load(std::memory_order_acquire)),
      view_(cache.view()) {}

void SeriesCache::Reader::refresh() {
  const std::uint64_t changes = cache_->changes_.load(std::memory_order_acquire);
  if (changes == changes_) return;
  changes_ = changes;
  view_ = cache_->view();
  lose_order();
}

void SeriesCache::Reader::add_to_use(const CachedKey& found, std::size_t segment) const {
  view_.segments[segment]->add_to_use(found, view_.use);
}

std::optional<storage::SeriesId> SeriesCache::Reader::find_in_index(const SeriesKey& key,
                                                                    std::uint64_t hash) const {
  // Some keys stand for all, so that threads rarely write to the same place.
  constexpr std::uint64_t kStandsFor = 64;
  if (view_.index == nullptr) return std::nullopt;
  const auto id = view_.index->find(hash, [this, &key](storage::SeriesId candidate) {
    return names_series(key, cache_->names_->series(candidate));
  });
  if (!id) return std::nullopt;
  if (view_.use == 0) {
    cache_->insert_text(view_, key, hash, *id);
  } else if ((hash >> 20) % kStandsFor == 0) {
    cache_->turned_away(view_, kStandsFor);
  }
  return id;
}

void SeriesCache::Reader::prefetch_slot(std::uint64_t hash) const {
  for (const std::shared_ptr<Segment>& segment : view_.segments) {
    if (const KeyTable* const table = segment->table(hash)) table->prefetch_slot(hash);
  }
  if (view_.use != 0 && view_.index != nullptr) view_.index->prefetch(hash);
}

void SeriesCache::Reader::prefetch_entry(std::uint64_t hash) const {
  for (const std::shared_ptr<Segment>& segment : view_.segments) {
    const KeyTable* const table = segment->table(hash);
    if (table == nullptr) continue;
    if (const CachedKey* const entry = table->likely(hash)) __builtin_prefetch(entry);
  }
}

void SeriesCache::Reader::prefetch_text(const SeriesKey& key, std::uint64_t hash) const {
  constexpr std::size_t kLine = 64;
  for (const std::shared_ptr<Segment>& segment : view_.segments) {
    const KeyTable* const table = segment->table(hash);
    if (table == nullptr) continue;
    const CachedKey* const entry = table->likely(hash);
    if (entry == nullptr) continue;
    const auto* const text = reinterpret_cast<const char*>(entry->tags_text);
    const std::size_t bytes = sizeof(CachedText) + key.tags.size();
    for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(text + at);
  }
}

const CachedKey* SeriesCache::Reader::find_text(const SeriesKey& key, std::uint64_t hash,
                                                std::size_t& segment) const {
  for (segment = 0; segment < kSegments; ++segment) {
    if (const CachedKey* const entry = view_.segments[segment]->find(key, hash)) return entry;
  }
  return nullptr;
}

std::optional<storage::SeriesId> SeriesCache::Reader::find(const SeriesKey& key,
                                                           std::uint64_t hash) const {
  std::size_t segment = 0;
  if (const CachedKey* const entry = find_text(key, hash, segment)) {
    if (view_.use != 0) count_use(*entry, segment);
    return entry->id;
  }
  return find_in_index(key, hash);
}

std::optional<storage::SeriesId> SeriesCache::Reader::find_in_order(const SeriesKey& key,
                                                                    std::uint64_t hash) {
  std::size_t segment = 0;
  const CachedKey* const entry = find_text(key, hash, segment);
  if (entry == nullptr) {
    lose_order();
    return find_in_index(key, hash);
  }
  if (segment != segment_) lose_order();
  segment_ = segment;
  if (last_ != nullptr && expected_ != entry) {
    last_->next.store(entry, std::memory_order_release);
  }
  step(entry);
  return entry->id;
}

}  // namespace halite::ingest
