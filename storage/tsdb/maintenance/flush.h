// Writes a frozen head into chunks: one sorted file for each shard, and files of chunks that are
// sealed directly. All are ingested together with the flush mark.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "storage/catalog/index/active_series.h"
#include "storage/tsdb/chunk_db/chunk_files.h"
#include "storage/tsdb/core/retention.h"
#include "storage/tsdb/head/head.h"
#include "storage/tsdb/maintenance/direct_sealing.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::engine {

// The tsuid of the series at a position of a shard in a head.
using TsuidOf = std::function<Bytes(std::uint32_t shard, std::uint32_t position)>;

struct FlushStats {
  std::set<std::int64_t> periods;              // that received chunks
  SlotChanges changes;                         // of those partitions
  std::vector<std::vector<LastPoint>> newest;  // by shard: of each series in the head
  std::uint64_t points = 0;
  std::uint64_t chunks = 0;
  std::uint64_t bytes = 0;  // of keys and chunks
};

// Flushes a frozen head. Its number becomes the flush number of the chunks. `alive`, if not null,
// is notified of the series with chunks before these become visible. `direct`, if not null, decides
// what is sealed directly. Blocks.
[[nodiscard]] Result<FlushStats> flush_head(Head& head, const Retention& retention,
                                            const TsuidOf& tsuid_of, Sequence log_position,
                                            ChunkFiles& chunks, ActiveSeries* alive = nullptr,
                                            DirectSealing* direct = nullptr);

}  // namespace halite::storage::engine
