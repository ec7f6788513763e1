// Where a log begins, told without opening it; and a log that has only begun.
//
//   Threads  nobody writes it meanwhile. Blocks.
#pragma once

#include <optional>
#include <string>

#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::log_format {

// The last sequence before the oldest segment whose header can be read; nothing where there is
// none.
[[nodiscard]] Result<std::optional<Sequence>> log_start(FileSystem& files, const std::string& dir);

// Makes a log that begins behind `after` and has no record, where there is none: what came before
// is safe elsewhere. options.dir is made.
[[nodiscard]] Result<void> create_empty_log(FileSystem& files, const LogOptions& options,
                                            Sequence after);

}  // namespace halite::storage::log_format
