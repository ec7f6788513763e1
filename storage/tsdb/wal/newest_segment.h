// The file `newest` of a log's directory names the segment that was begun last: without it nobody
// would know that the last segments are gone.
//
//   Threads  one at a time; blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tsdb/wal/log.h"
#include "storage/tsdb/wal/replay.h"

namespace halite::storage::log_format {

inline constexpr std::uint64_t kNewestBytesMax = 4096;

struct NewestSegment {
  std::uint64_t number = 0;
  Sequence after = 0;           // the last sequence before it
  std::uint64_t bytes_min = 0;  // its file is never shorter
  bool operator==(const NewestSegment&) const = default;
};

// In one step that outlives a power cut.
[[nodiscard]] Result<void> write_newest(FileSystem& files, const std::string& dir,
                                        const NewestSegment& newest);
// The file's content. kCorruption: it is none.
[[nodiscard]] Result<NewestSegment> parse_newest(BytesView bytes);
// Nothing where the file is not there, or is damaged, which is said.
[[nodiscard]] std::string newest_path(const std::string& dir);
[[nodiscard]] Result<std::optional<NewestSegment>> read_newest(FileSystem& files,
                                                               const std::string& dir);

// Why the end of what was replayed cannot be the end of the log; empty where it may be.
// `flushed_upto`: the last record that is known to have been in it.
[[nodiscard]] std::string missing_end(const std::optional<NewestSegment>& newest,
                                      const ReplayedLog& replayed, Sequence flushed_upto);

}  // namespace halite::storage::log_format
