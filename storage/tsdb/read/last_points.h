// Finds the newest point of each series of a selection, newest slots first.
//
// Processes series in pieces. Between two pieces it holds no lock and checks the selection's
// context. For few series it runs on the calling thread, from memory alone. More series, and reads
// from disk, run on the engine's read threads, some pieces in each job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/threads/task.h"
#include "storage/catalog/selection.h"
#include "storage/tsdb/core/engine_context.h"

namespace halite::storage::engine {

inline constexpr std::size_t kLastPieceSeries = 256;  // processed under one lock

// Limits for the calling thread, which may be an event loop: a few tenths of a millisecond. Waking
// another thread takes about as long.
inline constexpr std::size_t kLastHereSeries = 1'024;
inline constexpr std::uint64_t kLastHerePoints = 4'096;  // decoded, in total

inline constexpr std::size_t kLastJobSeries = 16'384;  // in one job of a read thread

// Ordered by series id. Errors of the context; kUnavailable, kCorruption: stored points cannot be
// read.
Task<std::vector<LastPoint>> find_last_points(std::shared_ptr<EngineContext> context,
                                              std::shared_ptr<const RowSelection> selection,
                                              TimeRange range);

}  // namespace halite::storage::engine
