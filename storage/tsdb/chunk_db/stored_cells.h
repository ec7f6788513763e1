// Whether a series has cells in any slot of a shard: points, tombstones, of whatever lap.
//
//   Threads  for one at a time; it holds the view of the chunks that it was made with, and blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "storage/tsdb/chunk_db/chunk_db.h"
#include "storage/tsdb/chunk_db/stored_slots.h"

namespace halite::storage::engine {

class StoredCells {
 public:
  // Without the cells of slot `except`, if one is named. Breathes between two looks into files, on
  // what there was when it was made.
  static Result<StoredCells> open(const ChunkDb& chunks, const UidWidths& widths,
                                  std::uint32_t shard, std::optional<std::uint32_t> except = {},
                                  Breathe breathe = {});

  // Of a series (chunk_key.h: series_key()). True, too, where that cannot be read any more. The
  // slots with the newest data are looked into first: most series are there. In no more than so
  // many slots.
  [[nodiscard]] Result<bool> any(BytesView series_key, std::size_t slots_max = SIZE_MAX);
  // Whether a tombstone is among them.
  [[nodiscard]] Result<bool> any_tombstone(BytesView series_key);

  // Calls visit(series key) for each series with cells in a slot. False: some cannot be read.
  [[nodiscard]] Result<bool> each_series(std::uint32_t slot,
                                         const std::function<Result<void>(BytesView)>& visit);

  [[nodiscard]] const std::vector<std::uint32_t>& slots() const { return slots_; }  // newest first
  // Whether there may be more slots, and cells that cannot be read.
  [[nodiscard]] bool damaged() const { return damaged_; }
  [[nodiscard]] std::uint64_t looks() const { return looks_; }  // what any() did so far, in seeks

 private:
  StoredCells(std::unique_ptr<ShardView> view, const UidWidths& widths, std::uint32_t shard,
              Breathe breathe)
      : view_(std::move(view)), widths_(widths), shard_(shard), breathe_(std::move(breathe)) {}

  std::unique_ptr<ShardView> view_;
  UidWidths widths_;
  std::uint32_t shard_;
  Breathe breathe_;
  std::vector<std::uint32_t> slots_;
  bool damaged_ = false;
  std::uint64_t looks_ = 0;
};

}  // namespace halite::storage::engine
