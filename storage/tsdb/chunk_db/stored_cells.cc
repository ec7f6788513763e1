#include "storage/tsdb/chunk_db/stored_cells.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "storage/tsdb/chunk_db/tables/chunk_key.h"

namespace halite::storage::engine {

Result<StoredSlots> stored_slots(ShardView& view, const UidWidths& widths, std::uint32_t shard,
                                 const YieldFn& yield) {
  std::map<std::uint32_t, StoredSlot> found;  // by number
  StoredSlots stored;
  Cursor& cursor = view.chunks();
  Bytes from = shard_slot_prefix({.shard = shard, .slot = 0});
  for (cursor.seek(from);;) {
    TRY_VOID(yield_or_stop(yield));
    TRY(const bool more, cursor.skip_damage(from, &stored.damaged));
    if (!more) break;
    TRY(const ParsedKey key, parse_key(widths, cursor.key()));
    const std::uint32_t slot = key.shard_slot.slot;
    found.emplace(slot, StoredSlot{.number = slot, .period = key.cell.period});
    if (slot == UINT32_MAX) break;
    from = shard_slot_prefix({.shard = shard, .slot = slot + 1});
    cursor.seek(from);
  }
  if (stored.damaged) {
    for (const auto& [slot, period] : view.known_slots()) {
      found.emplace(slot, StoredSlot{.number = slot, .period = period, .unreadable = true});
    }
  }
  stored.slots.reserve(found.size());
  for (const auto& [number, slot] : found) stored.slots.push_back(slot);
  return stored;
}

Result<bool> seek_undamaged_series(Cursor& cursor, const UidWidths& widths, BytesView from) {
  for (Bytes at(from);;) {
    TRY(const bool more, cursor.seek_past_damage(at));
    if (!more) return false;
    TRY(const ParsedKey key, parse_key(widths, cursor.key()));
    Bytes series = shard_slot_prefix(key.shard_slot);
    series.append(key.series);
    // A series that begins before `at` has lost cells: skip it. Any other may have lost its first
    // cells.
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

Result<StoredCells> StoredCells::open(const ChunkViews& views, const UidWidths& widths,
                                      std::uint32_t shard, std::optional<std::uint32_t> except,
                                      YieldFn yield) {
  StoredCells cells(views.shard_view(shard, ReadSource::kDisk), widths, shard, std::move(yield));
  std::vector<std::pair<std::int64_t, std::uint32_t>> found;  // period, slot
  TRY(const StoredSlots stored, stored_slots(*cells.view_, widths, shard, cells.yield_));
  cells.damaged_ = stored.damaged;
  for (const StoredSlot& slot : stored.slots) {
    if (slot.number != except) found.emplace_back(slot.period, slot.number);
  }
  std::ranges::sort(found, std::greater());
  for (const auto& [period, slot] : found) cells.slots_.push_back(slot);
  return cells;
}

Result<bool> StoredCells::any(BytesView series_key, std::size_t slots_max) {
  Cursor& cursor = view_->chunks();
  for (const std::uint32_t slot : std::span(slots_).first(std::min(slots_max, slots_.size()))) {
    TRY_VOID(yield_or_stop(yield_));
    ++looks_;
    Bytes prefix = shard_slot_prefix({.shard = shard_, .slot = slot});
    prefix.append(series_key);
    cursor.seek(prefix);
    if (cursor.valid() && cursor.key().starts_with(prefix)) return true;
    const Result<void> status = cursor.status();
    if (status) continue;
    if (status.error().code == Errc::kCorruption) return true;  // it may be there
    return std::unexpected(status.error());
  }
  return damaged_;  // it may be in an unknown slot
}

Result<bool> StoredCells::any_tombstone(BytesView series_key) {
  Cursor& cursor = view_->chunks();
  for (const std::uint32_t slot : slots_) {
    Bytes prefix = shard_slot_prefix({.shard = shard_, .slot = slot});
    prefix.append(series_key);
    TRY_VOID(yield_or_stop(yield_));
    for (cursor.seek(prefix); cursor.valid() && cursor.key().starts_with(prefix); cursor.next()) {
      TRY(const ParsedKey key, parse_key(widths_, cursor.key()));
      if (key.cell.kind == CellKind::kTombstone) return true;
    }
    const Result<void> status = cursor.status();
    if (!status && status.error().code != Errc::kCorruption) return std::unexpected(status.error());
  }
  return false;
}

Result<bool> StoredCells::each_series(std::uint32_t slot,
                                      const std::function<Result<void>(BytesView)>& visit) {
  const Bytes shard_slot = shard_slot_prefix({.shard = shard_, .slot = slot});
  Bytes series;
  Bytes from = shard_slot;
  bool damaged = false;
  Cursor& cursor = view_->chunks();
  cursor.seek(shard_slot);
  for (;;) {
    if (!cursor.valid()) {
      const Result<void> status = cursor.status();
      if (status) break;
      if (status.error().code != Errc::kCorruption) return std::unexpected(status.error());
      damaged = true;
      TRY(const bool more, seek_undamaged_series(cursor, widths_, from));
      if (!more) break;
      continue;
    }
    if (!cursor.key().starts_with(shard_slot)) break;
    TRY(const ParsedKey key, parse_key(widths_, cursor.key()));
    from = cursor.key();
    TRY_VOID(yield_or_stop(yield_));
    if (key.series != series) {
      series = Bytes(key.series);
      TRY_VOID(visit(series));
    }
    cursor.next();
  }
  return !damaged;
}

}  // namespace halite::storage::engine
