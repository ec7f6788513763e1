// A frozen generation of the head as chunks: one sorted file a shard, taken in together with the
// mark of how far the log is in them.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "storage/catalog/index/active_series.h"
#include "storage/tsdb/chunk_db/chunk_files.h"
#include "storage/tsdb/core/retention.h"
#include "storage/tsdb/head/head.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::engine {

using TsuidOf = std::function<Bytes(SeriesId)>;

struct FlushStats {
  std::set<std::int64_t> periods;              // of slots, that got chunks
  SlotChanges changes;                         // those slots
  std::vector<std::vector<LastPoint>> newest;  // by shard: of each series that it had
  std::uint64_t points = 0;
  std::uint64_t chunks = 0;
  std::uint64_t bytes = 0;  // of keys and chunks
};

// The head is frozen. Its number is the chunks' flush number. `alive` is told of the series that
// get chunks, before these can be seen; it may be null. Blocks.
[[nodiscard]] Result<FlushStats> flush_head(Head& head, const Retention& retention,
                                            const TsuidOf& tsuid_of, Sequence log_position,
                                            ChunkFiles& chunks, ActiveSeries* alive = nullptr);

}  // namespace halite::storage::engine
