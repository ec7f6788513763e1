#include "storage/engine/stored_cells.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "storage/engine/chunk_key.h"

namespace halite::storage::engine {

Result<StoredCells> StoredCells::open(const ChunkDb& chunks, const UidWidths& widths,
                                      std::uint32_t shard, std::optional<std::uint32_t> except) {
  StoredCells cells(chunks.shard_view(shard), widths, shard);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;  // generation, slot
  Cursor& cursor = cells.view_->chunks();
  for (cursor.seek(place_prefix({.shard = shard, .slot = 0})); cursor.valid();) {
    TRY(const ParsedKey key, parse_key(widths, cursor.key()));
    if (key.place.shard != shard) break;
    if (key.place.slot != except) found.emplace_back(key.cell.generation, key.place.slot);
    if (key.place.slot == UINT32_MAX) break;
    cursor.seek(place_prefix({.shard = shard, .slot = key.place.slot + 1}));
  }
  TRY_VOID(cursor.status());
  std::ranges::sort(found, std::greater());
  for (const auto& [generation, slot] : found) cells.slots_.push_back(slot);
  return cells;
}

Result<bool> StoredCells::any(BytesView series_key, std::size_t slots_max) {
  Cursor& cursor = view_->chunks();
  for (const std::uint32_t slot : std::span(slots_).first(std::min(slots_max, slots_.size()))) {
    ++looks_;
    Bytes prefix = place_prefix({.shard = shard_, .slot = slot});
    prefix.append(series_key);
    cursor.seek(prefix);
    if (cursor.valid() && cursor.key().starts_with(prefix)) return true;
    TRY_VOID(cursor.status());
  }
  return false;
}

Result<bool> StoredCells::any_tombstone(BytesView series_key) {
  Cursor& cursor = view_->chunks();
  for (const std::uint32_t slot : slots_) {
    Bytes prefix = place_prefix({.shard = shard_, .slot = slot});
    prefix.append(series_key);
    for (cursor.seek(prefix); cursor.valid() && cursor.key().starts_with(prefix); cursor.next()) {
      TRY(const ParsedKey key, parse_key(widths_, cursor.key()));
      if (key.cell.kind == CellKind::kTombstone) return true;
    }
    TRY_VOID(cursor.status());
  }
  return false;
}

Result<void> StoredCells::each_series(std::uint32_t slot,
                                      const std::function<Result<void>(BytesView)>& visit) {
  const Bytes place = place_prefix({.shard = shard_, .slot = slot});
  Bytes series;
  Cursor& cursor = view_->chunks();
  for (cursor.seek(place); cursor.valid() && cursor.key().starts_with(place); cursor.next()) {
    TRY(const ParsedKey key, parse_key(widths_, cursor.key()));
    if (key.series == series) continue;
    series = Bytes(key.series);
    TRY_VOID(visit(series));
  }
  return cursor.status();
}

}  // namespace halite::storage::engine
