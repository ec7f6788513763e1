// A segment of the series cache: keys with their texts, added until it is full, freed as a whole.
//
//   Memory   at most bytes_max.
//   Threads  call from any thread. find() takes no lock; insert() takes that of a shard.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "ingest/series_cache/series_cache_table.h"
#include "ingest/series_cache/series_key.h"
#include "storage/api/series.h"

namespace halite::ingest {

// Bytes that all keys with this text share. The bytes follow in memory.
struct CachedText {
  std::uint64_t hash = 0;
  std::uint32_t bytes = 0;

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(this + 1), bytes};
  }
};

// A key and its id in the cache. After publication only its successors change.
struct CachedKey {
  std::uint64_t hash = 0;
  // The key that followed this one last time: agents send series in a constant order. In the same
  // segment as this key.
  mutable std::atomic<const CachedKey*> next = nullptr;
  // A key found a few keys after this one last time, to prefetch it. In the same segment.
  mutable std::atomic<const CachedKey*> later = nullptr;
  // Also in the same segment. The metrics of one host share the bytes of its tags.
  const CachedText* metric_text = nullptr;
  const CachedText* tags_text = nullptr;
  storage::SeriesId id = 0;
  KeyGrammar grammar = KeyGrammar::kPutLine;
  // The latest use count (see begin_count()) in which this key was found.
  mutable std::atomic<std::uint8_t> use = 0;

  [[nodiscard]] std::string_view metric() const { return metric_text->text(); }
  [[nodiscard]] std::string_view tags() const { return tags_text->text(); }
};

class CacheSegment {
 public:
  CacheSegment(std::size_t bytes_max, std::uint64_t seed) : budget_(bytes_max), seed_(seed) {}

  // Prefetch what find() will read, in this order: see SeriesCache::Reader.
  void prefetch_slot(std::uint64_t hash) const;
  void prefetch_entry(std::uint64_t hash) const;
  void prefetch_text(std::uint64_t hash, std::size_t tags_bytes) const;
  // Null if the key is not here.
  [[nodiscard]] const CachedKey* find(const SeriesKey& key, std::uint64_t hash) const;

  // Returns false if there is no space. Ignores keys that are here, and those that are too large.
  [[nodiscard]] bool insert(const SeriesKey& key, std::uint64_t hash, storage::SeriesId id);

  void resize(std::size_t bytes_max);  // larger, a full segment takes keys again
  [[nodiscard]] std::size_t bytes() const { return budget_.bytes(); }
  [[nodiscard]] std::size_t keys() const { return keys_.load(std::memory_order_relaxed); }

  // Counts the keys in use. `use` is the number of the count, never 0.
  void begin_count(std::uint8_t use);
  void add_to_use(const CachedKey& found, std::uint8_t use);
  [[nodiscard]] std::size_t in_use() const { return in_use_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kShards = 16;

  // The memory limit of the segment.
  class Budget {
   public:
    explicit Budget(std::size_t most) : bytes_max(most) {}

    bool reserve(std::size_t bytes) {
      if (bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= bytes_max) return true;
      bytes_.fetch_sub(bytes, std::memory_order_relaxed);
      return false;
    }
    [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    std::atomic<std::size_t> bytes_max;

   private:
    std::atomic<std::size_t> bytes_{0};
  };

  // Entries of one kind in one shard: a table and its memory. `mutex` guards everything except
  // reads of the table.
  template <class Entry>
  struct EntryShard {
    using Table = CacheTable<Entry>;

    // A table with space for one more entry; null if the budget is exhausted. Adds to `lost` the
    // entries that did not fit into a larger table.
    Table* table_with_space(Budget& budget, std::size_t& lost);
    // Null if the budget is exhausted.
    char* allocate(Budget& budget, std::size_t bytes);

    std::atomic<Table*> table{nullptr};
    std::mutex mutex;
    std::size_t entries = 0;
    // All tables so far: a look-up may still use an earlier one.
    std::vector<std::unique_ptr<Table>> tables;
    std::vector<std::unique_ptr<char[]>> chunks;
    std::size_t chunk_used = 0;
    std::size_t chunk_size = 0;
  };
  using KeyTable = CacheTable<CachedKey>;
  using TextTable = CacheTable<CachedText>;

  static std::size_t shard_of(std::uint64_t hash) { return (hash >> 40) % kShards; }
  static const CachedKey* find_in(const KeyTable& table, const SeriesKey& key, std::uint64_t hash);
  [[nodiscard]] const KeyTable* table(std::uint64_t hash) const {
    return keys_in_[shard_of(hash)].table.load(std::memory_order_acquire);
  }
  // Returns false if there is no space.
  bool insert_with_space(const SeriesKey& key, std::uint64_t hash, storage::SeriesId id);
  // The stored text; null if the budget is exhausted. A text without a slot in its table is stored
  // again each time, which only costs memory.
  const CachedText* text(std::string_view bytes);

  Budget budget_;
  const std::uint64_t seed_;
  std::atomic<std::size_t> keys_{0};
  std::atomic<std::uint8_t> use_{0};
  std::atomic<std::size_t> in_use_{0};
  std::atomic<bool> full_{false};
  std::array<EntryShard<CachedKey>, kShards> keys_in_;
  std::array<EntryShard<CachedText>, kShards> texts_in_;
};

}  // namespace halite::ingest
