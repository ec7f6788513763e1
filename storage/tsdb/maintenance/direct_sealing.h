// Direct sealing: a flush writes history in its final form at once, so that sealing need not
// rewrite it. This is possible for the points of a series in a slot that has ended, if nothing of
// the series is stored in the slot.
//
//   Threads  for the maintenance thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/tsdb/chunk_db/chunk_db.h"

namespace halite::storage::engine {

class DirectSealing {
 public:
  // Periods below over_before have ended. In each shard, a flush writes sealed chunks only if these
  // have at least bytes_min bytes, with keys: they need files of their own.
  DirectSealing(ChunkDb& chunks, std::int64_t over_before, std::uint64_t bytes_min)
      : chunks_(chunks), over_before_(over_before), bytes_min_(bytes_min) {}

  [[nodiscard]] std::uint64_t bytes_min() const { return bytes_min_; }

  // Whether new chunks of a series in a partition may be sealed ones. `series`: the prefix of its
  // keys in the slot.
  [[nodiscard]] bool may_seal(const Partition& partition, BytesView series);

 private:
  struct Slot {
    bool possible = false;    // for series without cells
    bool empty = false;       // no series has cells
    std::uint32_t found = 0;  // series with cells, without a series without cells in between
  };
  // After so many series in a row with cells in a slot, does not look up further ones.
  static constexpr std::uint32_t kFoundMax = 16;

  [[nodiscard]] Slot look_at(const Partition& partition);
  [[nodiscard]] bool has_cells(std::uint32_t shard, BytesView prefix);

  ChunkDb& chunks_;
  const std::int64_t over_before_;
  const std::uint64_t bytes_min_;
  std::map<Partition, Slot> slots_;
  std::unique_ptr<Cursor> cursor_;  // over shard_
  std::uint32_t shard_ = 0;
};

}  // namespace halite::storage::engine
