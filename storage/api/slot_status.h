// The state of a store's retention classes and slots, for status pages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/clock.h"

namespace halite::storage {

struct SlotStatus {
  std::uint32_t slot = 0;   // its number in the keys
  std::int64_t period = 0;  // times from period * span_ms to (period + 1) * span_ms
  std::uint64_t bytes = 0;  // of files, approximate; a file of two slots counts half in each
  std::uint64_t files = 0;
  bool sealed = false;  // in its final form, except for late data
  bool late = false;    // received data after it was sealed
};

// A retention class: metrics with one TTL and one ring of slots.
struct RetentionStatus {
  std::string prefix;             // of its metrics; empty = all other metrics
  std::int64_t ttl_ms = 0;        // 0 = no expiry
  std::int64_t span_ms = 0;       // of a slot
  std::uint32_t ring_slots = 0;   // length of the ring; 0 = slots are used once
  std::vector<SlotStatus> slots;  // with points in files, ordered by period
};

}  // namespace halite::storage
