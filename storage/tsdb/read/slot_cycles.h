// The stored slots of an engine, for display. Uses only file metadata and reads no file.
//
//   Threads  call from any thread; takes as long as listing some thousands of files.
#pragma once

#include <vector>

#include "storage/api/slot_status.h"
#include "storage/tsdb/core/engine_context.h"

namespace halite::storage::engine {

[[nodiscard]] std::vector<RetentionStatus> retention_status(const EngineContext& context);

}  // namespace halite::storage::engine
