#include "storage/backends/hbase/regions/region_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "storage/cells/layouts/salt.h"

namespace halite::storage {
namespace {

constexpr std::size_t kSlotKeyBytes = 1 + 4;  // salt and slot

Bytes slot_key(std::uint32_t salt, std::uint32_t slot) {
  Bytes key;
  append_be<std::uint8_t>(key, static_cast<std::uint8_t>(salt));
  append_be<std::uint32_t>(key, slot);
  return key;
}

// A border between two regions of a plan.
struct Border {
  std::uint32_t salt = 0;
  std::uint32_t slot = 0;
};

// An empty key is the start of the table, or its end.
std::optional<Border> border_at(BytesView key, Border if_empty) {
  if (key.empty()) return if_empty;
  if (key.size() != kSlotKeyBytes) return std::nullopt;
  return Border{load_be<std::uint8_t>(key.data()), load_be<std::uint32_t>(key.data() + 1)};
}

std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

}  // namespace

std::int64_t ring_cleaning_ms(std::int64_t major_compaction_ms, std::int64_t late_max_ms) {
  return 2 * major_compaction_ms + late_max_ms;
}

Result<RegionPlan> plan_regions(const CyclicLayout& layout, const RegionPlanOptions& options,
                                const CellLifetime& life) {
  const std::uint32_t salts = layout.salt_buckets();
  if (layout.ring_slots() == 0) return plan_salted_regions(salts, 1, options);
  const std::uint64_t allowed = std::uint64_t{options.servers} * options.regions_max;
  if (salts > allowed) {
    return fail(Errc::kInvalidArgument,
                fmt::format("{} salt buckets need at least as many regions, but {} servers with {} "
                            "each allow {}: raise hbase.regions_max or lower storage.salt_buckets",
                            salts, options.servers, options.regions_max, allowed));
  }
  const std::uint32_t slots = layout.ring_slots();
  RegionPlan plan;
  plan.fixed = true;
  plan.active = salts;
  const auto parts = static_cast<std::uint32_t>(std::min<std::uint64_t>(allowed / salts, slots));
  plan.slots_per_region = divide_up(slots, parts);
  for (std::uint32_t salt = 0; salt < salts; ++salt) {
    for (std::uint32_t slot = 0; slot < slots; slot += plan.slots_per_region) {
      if (salt != 0 || slot != 0) plan.split_keys.push_back(slot_key(salt, slot));
    }
  }
  plan.regions = static_cast<std::uint32_t>(plan.split_keys.size()) + 1;
  const std::int64_t span = layout.options().span_ms;
  // Points may come before their time, so a slot is in use that much earlier.
  const std::int64_t used_ms = plan.slots_per_region * span + life.late_max_ms + life.ttl_ms +
                               layout.options().future_max_ms;
  plan.dead_ms = std::max<std::int64_t>(0, slots * span - used_ms);
  return plan;
}

RegionPlan plan_salted_regions(std::uint32_t salt_buckets, std::size_t salt_width,
                               const RegionPlanOptions& options) {
  RegionPlan plan;
  plan.active = std::max(1u, salt_buckets);
  if (salt_width == 0) return plan;
  const std::uint64_t allowed =
      std::max<std::uint64_t>(1, std::uint64_t{options.servers} * options.regions_max);
  const auto parts = static_cast<std::uint32_t>(std::min<std::uint64_t>(allowed, salt_buckets));
  const std::uint32_t step = divide_up(salt_buckets, parts);
  for (std::uint32_t salt = step; salt < salt_buckets; salt += step) {
    append_opentsdb_salt(plan.split_keys.emplace_back(), salt, static_cast<unsigned>(salt_width));
  }
  plan.regions = static_cast<std::uint32_t>(plan.split_keys.size()) + 1;
  return plan;
}

std::optional<TimestampMs> dead_since(const CyclicLayout& layout, const KeyRange& region,
                                      const CellLifetime& life, TimestampMs now) {
  const std::uint32_t slots = layout.ring_slots();
  if (slots == 0) return std::nullopt;
  const auto begin = border_at(region.begin, Border{});
  auto end = border_at(region.end, Border{layout.salt_buckets(), 0});
  if (!begin || !end) return std::nullopt;
  if (end->slot == 0 && end->salt == begin->salt + 1) end = Border{begin->salt, slots};
  if (end->salt != begin->salt || end->slot <= begin->slot || end->slot > slots) {
    return std::nullopt;
  }
  const std::int64_t span = layout.options().span_ms;
  const std::int64_t newest = (now + layout.options().future_max_ms) / span;
  TimestampMs dead = 0;
  for (std::uint32_t slot = begin->slot; slot < end->slot; ++slot) {
    const std::int64_t period = layout.newest_period(slot, newest);
    if (period < 0) continue;  // not yet used
    dead = std::max(dead, (period + 1) * span + life.late_max_ms + life.ttl_ms);
  }
  if (dead > now) return std::nullopt;
  return dead;
}

}  // namespace halite::storage
