// Whether all that belongs together is there: the rows with names and series, the files of chunks,
// the log. One without the others would be answered under names that are not its own.
//
//   Threads  before anything of it is opened. Blocks.
//   Errors   kConflict: a part is missing, and what to do.
#pragma once

#include <memory>
#include <string>

#include "common/task.h"
#include "storage/api/wide_column.h"
#include "storage/files/files.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::engine {

struct EngineDirs {
  std::shared_ptr<FileSystem> files;
  std::string engine;
  std::string chunks;
  std::string log;
};

// Before the settings table is written to.
[[nodiscard]] Task<void> check_data_dir_complete(std::shared_ptr<Table> settings, EngineDirs dirs);

// All of them were made, and are there from now on.
[[nodiscard]] Task<void> note_data_dir_complete(std::shared_ptr<Table> settings);

// kCorruption where the end of the chunks' manifest was cut off, and the log has dropped records
// above `position` that only files named there had. Changes nothing.
[[nodiscard]] Result<void> check_log_covers(FileSystem& files, const EngineDirs& dirs,
                                            Sequence position);

// Chunks were opened with a manifest whose end had been cut off, now or before. `position`: up to
// which record of the log they hold. kCorruption where the log has dropped records behind it; else
// nothing had relied on what was cut off, and what is kept of it goes.
[[nodiscard]] Result<void> check_manifest_cut(FileSystem& files, const EngineDirs& dirs,
                                              Sequence position);

}  // namespace halite::storage::engine
