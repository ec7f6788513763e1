// The file `newest` in a log's directory describes the newest segment. Without it, missing segments
// at the end would not be noticed.
//
//   Threads  one at a time; blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tsdb/wal/log.h"
#include "storage/tsdb/wal/replay.h"

namespace halite::storage::log_format {

inline constexpr std::uint64_t kNewestBytesMax = 4096;

struct NewestSegment {
  std::uint64_t number = 0;
  Sequence after = 0;           // last sequence before it
  std::uint64_t bytes_min = 0;  // its file is never shorter
  bool operator==(const NewestSegment&) const = default;
};

// Writes the file atomically and durably.
[[nodiscard]] Result<void> write_newest(FileSystem& files, const std::string& dir,
                                        const NewestSegment& newest);
// Parses the content of the file. kCorruption: invalid.
[[nodiscard]] Result<NewestSegment> parse_newest(BytesView bytes);
[[nodiscard]] std::string newest_path(const std::string& dir);
// Nothing if the file is missing, or damaged, which is logged.
[[nodiscard]] Result<std::optional<NewestSegment>> read_newest(FileSystem& files,
                                                               const std::string& dir);

// Why the end of the replayed records cannot be the end of the log; empty if it can.
// `flushed_upto`: the last record known to have been in it.
[[nodiscard]] std::string missing_end(const std::optional<NewestSegment>& newest,
                                      const ReplayedLog& replayed, Sequence flushed_upto);

}  // namespace halite::storage::log_format
