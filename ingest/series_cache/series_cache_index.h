// From the hash of a key to a series id, in eight bytes. The caller compares the key with the
// names of the series, so a hash that two keys share costs time, not correctness.
//
// A key is in one of two buckets of eight slots, the one that had more room when the key came. Each
// bucket is a line of the processor's cache.
//
//   Memory   three to six eighths of the slots are used, and the smaller tables that came before
//            stay, for readers: 28 bytes a key on average. At bytes_max nothing grows any more.
//            Then one new key in sixteen replaces another one, so that cyclic keys keep a constant
//            share of hits.
//   Threads  call from any thread. find() takes no lock; insert() takes that of a shard.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "storage/api/series.h"

namespace halite::ingest {

class SeriesCacheIndex {
 public:
  explicit SeriesCacheIndex(std::size_t bytes_max) : bytes_max_(bytes_max / kShards) {}

  void prefetch(std::uint64_t hash) const {
    if (const Table* const table = shard(hash).table.load(std::memory_order_acquire)) {
      for (const std::size_t at : table->places(tag_of(hash))) {
        __builtin_prefetch(&table->buckets[at]);
      }
    }
  }

  // Calls is(id) for ids whose key may have this hash, until it returns true.
  template <class Is>
  [[nodiscard]] std::optional<storage::SeriesId> find(std::uint64_t hash, const Is& is) const {
    const Table* const table = shard(hash).table.load(std::memory_order_acquire);
    if (table == nullptr) return std::nullopt;
    const std::uint32_t tag = tag_of(hash);
    for (const std::size_t at : table->places(tag)) {
      for (const std::atomic<std::uint64_t>& slot : table->buckets[at].slots) {
        const std::uint64_t value = slot.load(std::memory_order_acquire);
        if (value == kFree) break;
        if (tag_in(value) == tag && is(id_in(value))) return id_in(value);
      }
    }
    return std::nullopt;
  }

  // Keeps one slot for each pair of hash and id.
  void insert(std::uint64_t hash, storage::SeriesId id);

  // Below bytes() it only stops to grow.
  void resize(std::size_t bytes_max) {
    bytes_max_.store(bytes_max / kShards, std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kShards = 16;
  static constexpr std::uint64_t kFree = 0;

  struct alignas(64) Bucket {
    std::array<std::atomic<std::uint64_t>, 8> slots{};  // the used ones come first
  };

  struct Table {
    explicit Table(unsigned size_bits_in) : size_bits(size_bits_in), buckets(1ULL << size_bits) {}

    // The two buckets of a tag. Keys in one bucket differ in the other bits of their tags, or else
    // is() tells them apart.
    [[nodiscard]] std::array<std::size_t, 2> places(std::uint32_t tag) const {
      return {tag >> (32 - size_bits), (tag * 0x9E3779B1U) >> (32 - size_bits)};
    }

    const unsigned size_bits;
    std::vector<Bucket> buckets;
  };

  struct Shard {
    std::atomic<Table*> table{nullptr};
    std::mutex mutex;  // guards what follows, and writes to the table
    std::size_t keys = 0;
    std::size_t bytes = 0;
    std::uint32_t turned_away = 0;  // keys that found the index full
    std::vector<std::unique_ptr<Table>> tables;
  };

  // A slot is the tag above the id; no tag is 0.
  static std::uint32_t tag_of(std::uint64_t hash) {
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    return tag == 0 ? 1 : tag;
  }
  static std::uint64_t slot_of(std::uint32_t tag, storage::SeriesId id) {
    return (static_cast<std::uint64_t>(tag) << 32) | id;
  }
  static std::uint32_t tag_in(std::uint64_t slot) { return static_cast<std::uint32_t>(slot >> 32); }
  static storage::SeriesId id_in(std::uint64_t slot) {
    return static_cast<storage::SeriesId>(slot);
  }
  [[nodiscard]] const Shard& shard(std::uint64_t hash) const { return shards_[hash % kShards]; }

  // The slot that has this value, else a free one; null if both buckets are full.
  [[nodiscard]] static std::atomic<std::uint64_t>* slot_for(Table& table, std::uint64_t value);
  // A table with room; the present one if it may not grow, null if there is none.
  Table* table_with_room(Shard& shard);

  std::atomic<std::size_t> bytes_max_;  // of a shard
  std::array<Shard, kShards> shards_;
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace halite::ingest
