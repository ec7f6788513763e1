// What the log holds and chunks do not, brought into chunks: done once, before the engine takes
// points.
#pragma once

#include <functional>
#include <memory>

#include <prometheus/registry.h>

#include "storage/api/wide_column.h"
#include "storage/tsdb/chunk_db/chunk_db.h"
#include "storage/tsdb/core/options.h"
#include "storage/tsdb/core/retention.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::engine {

struct RecoveryDependencies {
  const Retention& retention;
  ChunkDb& chunks;
  std::shared_ptr<Table> names;
  Table& series;
  std::shared_ptr<FileSystem> files;
  prometheus::Registry& registry;
  std::function<Result<void>(const ReplayProgress&)> progress = {};  // as EngineStore::Parts
};

// Opens the log of options.log and replays it, a flush whenever head_freeze_bytes are full and one
// at the end; then nothing of the log is needed any more. Blocks; reports progress to the
// process's log.
[[nodiscard]] Result<std::unique_ptr<Log>> recover(const EngineOptions& options,
                                                   RecoveryDependencies dependencies);

}  // namespace halite::storage::engine
