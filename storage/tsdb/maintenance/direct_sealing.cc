#include "storage/tsdb/maintenance/direct_sealing.h"

namespace halite::storage::engine {

bool DirectSealing::may_seal(const Partition& partition, BytesView series) {
  if (partition.period >= over_before_) return false;
  auto at = slots_.find(partition);
  if (at == slots_.end()) at = slots_.emplace(partition, look_at(partition)).first;
  Slot& slot = at->second;
  if (slot.empty) return true;
  if (!slot.possible || slot.found >= kFoundMax) return false;
  const bool found = has_cells(partition.shard, series);
  slot.found = found ? slot.found + 1 : 0;
  return !found;
}

// A slot may still have cells of an earlier turn of the ring. Sealing removes them if the new
// period is unsealed, so that one is not sealed directly.
DirectSealing::Slot DirectSealing::look_at(const Partition& partition) {
  const std::shared_ptr<const UnsealedRanges> lines = chunks_.states.unsealed();
  if (lines->contains(partition) || chunks_.states.is_late(partition)) return {.possible = true};
  const bool any = has_cells(partition.shard,
                             shard_slot_prefix({.shard = partition.shard, .slot = partition.slot}));
  return {.possible = !any, .empty = !any};
}

// Cells that cannot be read count as cells.
bool DirectSealing::has_cells(std::uint32_t shard, BytesView prefix) {
  if (cursor_ == nullptr || shard_ != shard) {
    const Bytes begin = shard_slot_prefix({.shard = shard, .slot = 0});
    Bytes end = prefix_end(BytesView(begin).substr(0, 1));
    if (end.empty()) end = Bytes(64, '\xFF');
    cursor_ = chunks_.tables->points(begin, end);
    shard_ = shard;
  }
  cursor_->seek(prefix);
  if (!cursor_->valid()) return !cursor_->status();
  return cursor_->key().starts_with(prefix);
}

}  // namespace halite::storage::engine
