// Checks that the parts of a data directory are all present: the rows of names and series, the
// chunk files, and the log. Without one of them, answers could show points under wrong names.
//
//   Threads  call it before anything is opened. Blocks.
//   Errors   kConflict: a part is missing; the message says what to do.
#pragma once

#include <memory>
#include <string>

#include "common/threads/task.h"
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

// Call it before you write to the settings table.
[[nodiscard]] Task<void> check_data_dir_complete(std::shared_ptr<Table> settings, EngineDirs dirs);

// Whether no start has reached note_data_dir_complete(), and there are no chunks. The log may have
// segments, without records.
[[nodiscard]] Task<bool> is_data_dir_unfinished(std::shared_ptr<Table> settings, EngineDirs dirs);

// Notes that all parts exist and must exist from now on.
[[nodiscard]] Task<void> note_data_dir_complete(std::shared_ptr<Table> settings);

// kCorruption if the end of the chunks' manifest was cut off, and the log has truncated records
// above `position` that only the files named there contained. Changes nothing.
[[nodiscard]] Result<void> check_log_covers(FileSystem& files, const EngineDirs& dirs,
                                            Sequence position);

// Call it after chunks were opened whose manifest was cut off, now or earlier. `position`: the last
// sequence in these chunks. kCorruption if the log has truncated records above it. Otherwise
// nothing depended on the end of the manifest, and its set-aside copy is removed.
[[nodiscard]] Result<void> check_manifest_cut(FileSystem& files, const EngineDirs& dirs,
                                              Sequence position);

}  // namespace halite::storage::engine
