// An insert-only hash table: open addressing with linear probing.
//
// An entry is any type with a `hash`; it never moves. To grow, place all entries in a larger table.
//
//   Threads  call find() from any thread, even while one thread places entries.
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
  // An entry without a free slot within so many probes is not kept. This bounds every look-up,
  // whatever clients send.
  static constexpr std::size_t kProbesMax = 64;

  // `size` is a power of two.
  explicit CacheTable(std::size_t size) : mask_(size - 1), slots_(size) {}

  [[nodiscard]] static std::size_t bytes_of(std::size_t size) {
    return sizeof(CacheTable) + (size * sizeof(std::uint64_t));
  }
  [[nodiscard]] std::size_t size() const { return slots_.size(); }

  void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask_]); }
  // An entry in the first slots that may have this hash, to prefetch it; null if there is none.
  [[nodiscard]] const Entry* likely(std::uint64_t hash) const {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint64_t slot = slots_[(hash + i) & mask_].load(std::memory_order_acquire);
      if (slot == 0) return nullptr;
      if (tag_of(slot) == tag_of(hash)) return entry_of(slot);
    }
    return nullptr;
  }

  // Calls is(entry) for entries whose hash may match.
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

  // Returns false if no slot is near enough.
  bool place(const Entry* entry) {
    for (std::size_t i = 0; i < probes(); ++i) {
      std::atomic<std::uint64_t>& slot = slots_[(entry->hash + i) & mask_];
      if (slot.load(std::memory_order_relaxed) != 0) continue;
      slot.store(slot_of(entry), std::memory_order_release);
      return true;
    }
    return false;
  }

  // Places all entries of another table. Returns the number without a slot.
  std::size_t place_all(const CacheTable& from) {
    std::size_t lost = 0;
    for (const auto& slot : from.slots_) {
      const Entry* const entry = entry_of(slot.load(std::memory_order_relaxed));
      if (entry != nullptr && !place(entry)) ++lost;
    }
    return lost;
  }

 private:
  // A slot is 0 or an entry's address with 16 bits of its hash above it. Addresses have 48 bits.
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
