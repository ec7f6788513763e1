// Which slots of a shard have cells, and how to go on behind some that cannot be read.
//
//   Threads  for the one who has the cursor.
//   Errors   kCorruption only for keys that are none.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/tsdb/chunk_db/breathe.h"
#include "storage/tsdb/chunk_db/chunk_snapshot.h"
#include "storage/tsdb/chunk_db/cursor.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"

namespace halite::storage::engine {

struct StoredSlot {
  std::uint32_t number = 0;
  std::int64_t generation = 0;  // of its first cell
  bool unreadable = false;      // files tell of it, but no cell of it can be read
};

struct StoredSlots {
  std::vector<StoredSlot> slots;  // ascending, each once
  // Some cannot be read. Those are here, too, as far as files and what is not sealed tell of them;
  // there may be more between the least and the greatest one.
  bool damaged = false;
};
[[nodiscard]] Result<StoredSlots> stored_slots(ShardView& view, const UidWidths& widths,
                                               std::uint32_t shard, const Breathe& breathe = {});

// The cursor's status is kCorruption, met on the way from `from`: goes to the first cell of the
// first series behind it of which nothing is damaged there. False where there is none.
[[nodiscard]] Result<bool> seek_undamaged_series(Cursor& cursor, const UidWidths& widths,
                                                 BytesView from);

}  // namespace halite::storage::engine
