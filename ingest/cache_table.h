// A hash table of entries that only ever come: open addressing with linear probing.
//
// An entry is anything with a `hash`; it never moves. What a table is grown into is another table
// with the same entries.
//
//   Threads  find() from any thread while one places.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/check.h"

namespace halite::ingest {

template <class Entry>
class CacheTable {
 public:
  // An entry that finds no place within so many slots is not kept: this bounds a look-up whatever
  // is sent.
  static constexpr std::size_t kProbesMax = 64;

  // A power of two.
  explicit CacheTable(std::size_t size) : mask_(size - 1), slots_(size) {}

  [[nodiscard]] static std::size_t bytes_of(std::size_t size) {
    return sizeof(CacheTable) + (size * sizeof(std::uint64_t));
  }
  [[nodiscard]] std::size_t size() const { return slots_.size(); }

  void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask_]); }
  // The entry in the first slot that one with this hash may be in; null if there is none.
  [[nodiscard]] const Entry* first(std::uint64_t hash) const {
    return entry_of(slots_[hash & mask_].load(std::memory_order_acquire));
  }

  // Asks is(entry) of entries whose hash may be this one.
  template <class Is>
  [[nodiscard]] const Entry* find(std::uint64_t hash, const Is& is) const {
    for (std::size_t i = 0; i < probes(); ++i) {
      const std::uint64_t slot = slots_[(hash + i) & mask_].load(std::memory_order_acquire);
      if (slot == 0) return nullptr;
      if (tag_of(slot) != tag_of(hash)) continue;
      const Entry* const entry = entry_of(slot);
      if (is(*entry)) return entry;
    }
    return nullptr;
  }

  // False: no place near enough.
  bool place(const Entry* entry) {
    for (std::size_t i = 0; i < probes(); ++i) {
      std::atomic<std::uint64_t>& slot = slots_[(entry->hash + i) & mask_];
      if (slot.load(std::memory_order_relaxed) != 0) continue;
      slot.store(slot_of(entry), std::memory_order_release);
      return true;
    }
    return false;
  }

  // Places all of another table's entries; returns how many found no place.
  std::size_t place_all(const CacheTable& from) {
    std::size_t lost = 0;
    for (const auto& slot : from.slots_) {
      const Entry* const entry = entry_of(slot.load(std::memory_order_relaxed));
      if (entry != nullptr && !place(entry)) ++lost;
    }
    return lost;
  }

 private:
  // A slot is an entry's address with 16 bits of its hash above it, or 0. Addresses have 48 bits.
  static constexpr unsigned kAddressBits = 48;

  static std::uint64_t tag_of(std::uint64_t hash) { return hash >> 48 << kAddressBits; }
  static std::uint64_t slot_of(const Entry* entry) {
    const auto address = reinterpret_cast<std::uintptr_t>(entry);
    HALITE_CHECK(address >> kAddressBits == 0, "addresses have 48 bits");
    return tag_of(entry->hash) | address;
  }
  static const Entry* entry_of(std::uint64_t slot) {
    constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << kAddressBits) - 1;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<const Entry*>(slot & kAddressMask);
  }

  [[nodiscard]] std::size_t probes() const { return std::min(kProbesMax, slots_.size()); }

  std::size_t mask_;
  std::vector<std::atomic<std::uint64_t>> slots_;
};

}  // namespace halite::ingest
