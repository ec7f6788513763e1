#include "storage/tsdb/chunk_db/stored_slots.h"

#include <algorithm>
#include <map>

namespace halite::storage::engine {

Result<StoredSlots> stored_slots(ShardView& view, const UidWidths& widths, std::uint32_t shard,
                                 const Breathe& breathe) {
  std::map<std::uint32_t, StoredSlot> found;  // by number
  StoredSlots stored;
  Cursor& cursor = view.chunks();
  Bytes from = place_prefix({.shard = shard, .slot = 0});
  for (cursor.seek(from);;) {
    TRY_VOID(go_on(breathe));
    TRY(const bool more, cursor.pass_damage(from, &stored.damaged));
    if (!more) break;
    TRY(const ParsedKey key, parse_key(widths, cursor.key()));
    const std::uint32_t slot = key.place.slot;
    found.emplace(slot, StoredSlot{.number = slot, .generation = key.cell.generation});
    if (slot == UINT32_MAX) break;
    from = place_prefix({.shard = shard, .slot = slot + 1});
    cursor.seek(from);
  }
  if (stored.damaged) {
    for (const auto& [slot, generation] : view.slots_told()) {
      found.emplace(slot, StoredSlot{.number = slot, .generation = generation, .unreadable = true});
    }
  }
  stored.slots.reserve(found.size());
  for (const auto& [number, slot] : found) stored.slots.push_back(slot);
  return stored;
}

Result<bool> seek_undamaged_series(Cursor& cursor, const UidWidths& widths, BytesView from) {
  for (Bytes at(from);;) {
    TRY(const bool more, cursor.seek_behind_damage(at));
    if (!more) return false;
    TRY(const ParsedKey key, parse_key(widths, cursor.key()));
    Bytes series = place_prefix(key.place);
    series.append(key.series);
    // One that began before has lost cells; of any other the first ones may be lost.
    if (series > at) {
      cursor.seek(series);
      if (cursor.valid()) return true;
    }
    at = prefix_end(series);
    cursor.seek(at);
    if (cursor.valid()) return true;
    const Result<void> status = cursor.status();
    if (status) return false;
    if (status.error().code != Errc::kCorruption) return std::unexpected(status.error());
  }
}

}  // namespace halite::storage::engine
