// The series of a metric that have stored cells: found in the keys of the chunks.
//
//   Threads  call from any thread; blocks on disk reads.
//   Errors   kCorruption if cells cannot be read.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "storage/catalog/index/active_series.h"
#include "storage/tsdb/core/engine_context.h"

namespace halite::storage::engine {

// Calls visit(tsuid) for each series of the metric with cells in a partition, in key order.
[[nodiscard]] Result<void> each_stored_series(
    const EngineContext& context, const ActiveSeries::ShardPeriod& shard_period,
    std::uint64_t metric_uid, const std::function<Result<void>(Bytes tsuid)>& visit);

// The tsuids of those series of the metric that are not in memory and have cells in a period that
// ends after `since`.
[[nodiscard]] Result<std::vector<Bytes>> find_unloaded_series(const EngineContext& context,
                                                              std::uint64_t metric_uid,
                                                              TimestampMs since,
                                                              const ReadContext& read);

}  // namespace halite::storage::engine
