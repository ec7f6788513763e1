// Flushes the records that only the write-ahead log has into chunks: once, before the engine
// accepts points.
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
  std::function<Result<void>(const ReplayProgress&)> progress = {};  // as Dependencies::replayed
};

// Opens the log of options.log and replays it. Flushes whenever head_freeze_bytes are reached and
// at the end; afterwards no record of the log is needed. Blocks; logs its progress.
[[nodiscard]] Result<std::unique_ptr<Log>> recover(const EngineOptions& options,
                                                   RecoveryDependencies dependencies);

}  // namespace halite::storage::engine
