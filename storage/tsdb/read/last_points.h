// The newest point of each series of a selection: looks into the newest slots first.
//
// Series are looked at in pieces. Between two pieces no lock is held, and the selection's context
// is asked. Few series are looked for by whoever asks, from memory alone; more, and what must be
// read, on the engine's read threads, a job of some pieces at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/task.h"
#include "storage/catalog/selection.h"
#include "storage/tsdb/core/engine_context.h"

namespace halite::storage::engine {

inline constexpr std::size_t kLastPieceSeries = 256;  // looked at under one lock

// What is done where it is asked, which may be an event loop: some tenths of a millisecond. To wake
// another thread takes about as long.
inline constexpr std::size_t kLastHereSeries = 1'024;
inline constexpr std::uint64_t kLastHerePoints = 4'096;  // decoded, of all those series

inline constexpr std::size_t kLastJobSeries = 16'384;  // what a read thread is kept for

// By series id. The context's errors; kUnavailable, kCorruption: what is stored cannot be read.
Task<std::vector<LastPoint>> find_last_points(std::shared_ptr<EngineContext> context,
                                              std::shared_ptr<const RowSelection> selection,
                                              TimeRange range);

}  // namespace halite::storage::engine
