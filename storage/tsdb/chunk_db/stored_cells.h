// Finds the slots of a shard that have cells, and whether a series has cells in any of them: points
// or tombstones of any period.
//
//   Threads  not thread-safe; a StoredCells keeps the view that it was created with. All block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "storage/tsdb/chunk_db/chunk_views.h"
#include "storage/tsdb/chunk_db/yield.h"

namespace halite::storage::engine {

struct StoredSlot {
  std::uint32_t number = 0;
  std::int64_t period = 0;  // of its first cell
  bool unreadable = false;  // files have cells of it, but none is readable
};

struct StoredSlots {
  std::vector<StoredSlot> slots;  // ascending, unique
  // Some cells cannot be read. Slots named by file metadata or unsealed ranges are listed; there
  // may be more between the least and the greatest one.
  bool damaged = false;
};
// The slots of a shard that have cells. kCorruption only for invalid keys.
[[nodiscard]] Result<StoredSlots> stored_slots(ShardView& view, const UidWidths& widths,
                                               std::uint32_t shard, const YieldFn& yield = {});

// For a cursor whose status is kCorruption after it started at `from`: moves to the first cell of
// the next series that is readable there. False if there is none.
[[nodiscard]] Result<bool> seek_undamaged_series(Cursor& cursor, const UidWidths& widths,
                                                 BytesView from);

class StoredCells {
 public:
  // Without the cells of slot `except`, if given. Reads the state at its creation, and yields
  // between lookups.
  static Result<StoredCells> open(const ChunkViews& views, const UidWidths& widths,
                                  std::uint32_t shard, std::optional<std::uint32_t> except = {},
                                  YieldFn yield = {});

  // Whether a series (chunk_key.h: series_key()) has cells. Also true if that cannot be read.
  // Examines at most slots_max slots, newest data first, because most series are there.
  [[nodiscard]] Result<bool> any(BytesView series_key, std::size_t slots_max = SIZE_MAX);
  // Whether one of its cells is a tombstone.
  [[nodiscard]] Result<bool> any_tombstone(BytesView series_key);

  // Calls visit(series key) for each series with cells in a slot. False: some cannot be read.
  [[nodiscard]] Result<bool> each_series(std::uint32_t slot,
                                         const std::function<Result<void>(BytesView)>& visit);

  [[nodiscard]] const std::vector<std::uint32_t>& slots() const { return slots_; }  // newest first
  // Whether there may be more slots, with cells that cannot be read.
  [[nodiscard]] bool damaged() const { return damaged_; }
  [[nodiscard]] std::uint64_t looks() const { return looks_; }  // seeks of any() so far

 private:
  StoredCells(std::unique_ptr<ShardView> view, const UidWidths& widths, std::uint32_t shard,
              YieldFn yield)
      : view_(std::move(view)), widths_(widths), shard_(shard), yield_(std::move(yield)) {}

  std::unique_ptr<ShardView> view_;
  UidWidths widths_;
  std::uint32_t shard_;
  YieldFn yield_;
  std::vector<std::uint32_t> slots_;
  bool damaged_ = false;
  std::uint64_t looks_ = 0;
};

}  // namespace halite::storage::engine
