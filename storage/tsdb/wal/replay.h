// Reads a log's directory: finds its records, lost records, and the remains of an unfinished commit
// at its end.
//
//   Threads  one at a time on a directory; blocks.
//   Errors   as Log::open().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::log_format {

struct SegmentFile {
  std::uint64_t number = 0;
  std::string path;
  std::uint64_t bytes = 0;  // that may contain records; at most kSegmentBytesMax
  bool oversized = false;   // the file is longer
  Sequence after = 0;       // last sequence before its first record
  Sequence last = 0;        // its last record; `after` if it has none
};

// Records at the end of the log that the earlier process may not have synced.
struct UnsyncedEnd {
  std::string path;
  std::uint64_t offset = 0;
  Bytes bytes;  // empty: all was synced
};

struct ReplayedLog {
  ReplayReport report;
  UnsyncedEnd unsynced;
  std::vector<SegmentFile> segments;  // oldest first
  std::vector<std::string> spares;    // paths
  std::uint64_t salt = 0;             // 0 = no readable segment has it
  std::uint64_t number_max = 0;       // greatest number in use
};

// Sequences skipped after a missing end, so that none of its sequences is reused.
inline constexpr Sequence kSequencesSkipped = Sequence{1} << 32;

// Writes the records again and syncs them. The file already shows them; but they may be in memory
// only, and after a failed sync the system may have forgotten to write them.
[[nodiscard]] Result<void> make_durable(FileSystem& files, const UnsyncedEnd& unsynced);

Result<ReplayedLog> replay_log(FileSystem& files, const LogOptions& options,
                               const ReplayCallbacks& callbacks);

inline constexpr BytesView kSparePrefix = "spare-";
inline constexpr BytesView kDamagedPrefix = "damaged-";
inline constexpr BytesView kTemporaryEnd = ".tmp";

}  // namespace halite::storage::log_format
