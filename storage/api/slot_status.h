// What a store that keeps points in slots of time tells of them, for people who look.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/clock.h"

namespace halite::storage {

struct SlotStatus {
  std::uint32_t slot = 0;   // its number in the keys
  std::int64_t period = 0;  // its span of time: generation * span_ms to (generation + 1) *
  std::uint64_t bytes = 0;  // of files, about; a file of two slots counts half in each
  std::uint64_t files = 0;
  bool sealed = false;  // in its final form, but for what came late
  bool late = false;    // something came since
};

// A retention class: what is kept for one time, in one cycle of slots.
struct RetentionStatus {
  std::string prefix;             // of its metrics; empty: of all others
  std::int64_t ttl_ms = 0;        // 0 = for ever
  std::int64_t span_ms = 0;       // of a slot
  std::uint32_t ring_slots = 0;   // how many are used again and again; 0 = none is
  std::vector<SlotStatus> slots;  // with points in files, by generation
};

}  // namespace halite::storage
