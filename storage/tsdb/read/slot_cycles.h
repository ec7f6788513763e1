// The slots of an engine as people are shown them: from what is known of files, without reading
// any.
//
//   Threads  any call from any thread; takes as long as listing some thousands of files.
#pragma once

#include <vector>

#include "storage/api/slot_status.h"
#include "storage/tsdb/core/engine_context.h"

namespace halite::storage::engine {

[[nodiscard]] std::vector<RetentionStatus> retention_status(const EngineContext& context);

}  // namespace halite::storage::engine
