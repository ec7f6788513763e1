// Finds where a log begins without opening it, and creates an empty log.
//
//   Threads  nothing writes the log meanwhile. Blocks.
#pragma once

#include <optional>
#include <string>

#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::log_format {

// The last sequence before the oldest segment with a readable header; nothing if there is none.
[[nodiscard]] Result<std::optional<Sequence>> log_start(FileSystem& files, const std::string& dir);

// Creates a log without records that begins after `after`, where no log exists. Records up to
// `after` must be stored elsewhere. Creates options.dir.
[[nodiscard]] Result<void> create_empty_log(FileSystem& files, const LogOptions& options,
                                            Sequence after);

}  // namespace halite::storage::log_format
