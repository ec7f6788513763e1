// The slots of a SeriesTable, and the check that no stale id is used. Private to the table.
//
// With HALITE_CHECK_SERIES_IDS each slot has a generation: how often it was given to a series and
// freed. It is odd while a series has the slot. at() of a freed slot stops the process, because its
// caller kept an id without a pin (storage/catalog/epochs.h). An id has no room for the generation
// for which it was given. So the table gives a freed slot to another series only when all its ids
// were given once (kIdsAreChecked): until then an id names one generation of its slot, and every
// use of a stale id is found. AddressSanitizer also reports the use of a Series kept by reference.
//
//   Threads  at() from any thread; give() and free() from one at a time.
//   Cost     without HALITE_CHECK_SERIES_IDS none. With it, a slot for each series ever made.
#pragma once

#include <array>
#include <cstddef>

#include "storage/api/series.h"

#ifdef HALITE_CHECK_SERIES_IDS
#include <atomic>
#include <cstdint>

#include <fmt/format.h>
#include <sanitizer/asan_interface.h>

#include "common/check.h"
#endif

namespace halite::storage {

#ifndef HALITE_CHECK_SERIES_IDS

inline constexpr bool kIdsAreChecked = false;

class SeriesPage {
 public:
  static constexpr std::size_t kSlots = 4096;

  [[nodiscard]] const Series& at(SeriesId id) const { return slots_[id % kSlots]; }
  // A slot that no series has, for the caller to fill.
  [[nodiscard]] Series& give(SeriesId id) { return slots_[id % kSlots]; }
  // Its series was removed, and all older pins are released.
  void free(SeriesId /*id*/) {}

 private:
  std::array<Series, kSlots> slots_;
};

#else

inline constexpr bool kIdsAreChecked = true;

class SeriesPage {
 public:
  static constexpr std::size_t kSlots = 4096;

  SeriesPage() = default;
  SeriesPage(const SeriesPage&) = delete;
  SeriesPage& operator=(const SeriesPage&) = delete;
  ~SeriesPage() { ASAN_UNPOISON_MEMORY_REGION(&slots_, sizeof slots_); }

  [[nodiscard]] const Series& at(SeriesId id) const {
    require(id, true, "was freed; acquire a pin before you obtain ids, and keep it");
    return slots_[id % kSlots];
  }
  [[nodiscard]] Series& give(SeriesId id) {
    require(id, false, "has a series already");
    pass(id);
    ASAN_UNPOISON_MEMORY_REGION(&slots_[id % kSlots], sizeof(Series));
    return slots_[id % kSlots];
  }
  void free(SeriesId id) {
    require(id, true, "was freed twice");
    pass(id);
    slots_[id % kSlots] = Series();
    ASAN_POISON_MEMORY_REGION(&slots_[id % kSlots], sizeof(Series));
  }

 private:
  // Relaxed, so that ThreadSanitizer still sees ids that reach another thread without order.
  void pass(SeriesId id) { generations_[id % kSlots].fetch_add(1, std::memory_order_relaxed); }
  void require(SeriesId id, bool given, const char* otherwise) const {
    const std::uint32_t generation = generations_[id % kSlots].load(std::memory_order_relaxed);
    if ((generation % 2 == 1) == given) return;
    check_failed("storage/catalog/epochs.h",
                 fmt::format("series id {}, generation {}: the slot {}", id, generation, otherwise),
                 __FILE__, __LINE__);
  }

  std::array<Series, kSlots> slots_;
  std::array<std::atomic<std::uint32_t>, kSlots> generations_{};
};

#endif

}  // namespace halite::storage
