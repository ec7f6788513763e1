// Reads a log's directory back: which records it holds, which were lost, and what is left of an
// unfinished commit at its end.
//
//   Threads  one at a time on a directory; blocks.
//   Errors   as Log::open().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::log_format {

struct SegmentFile {
  std::uint64_t number = 0;
  std::string path;
  std::uint64_t bytes = 0;  // that may hold records: no more than kSegmentBytesMax
  bool oversized = false;   // its file has more
  Sequence after = 0;       // before its first record
  Sequence last = 0;        // its last record; `after` when it has none
};

struct ReplayedLog {
  ReplayReport report;
  std::vector<SegmentFile> segments;  // oldest first
  std::vector<std::string> spares;    // paths
  std::uint64_t salt = 0;             // 0 = no segment has told it
  std::uint64_t number_max = 0;       // the greatest in use
};

// Numbers left out behind an end that is missing: those that it used are never used again.
inline constexpr Sequence kSequencesSkipped = Sequence{1} << 32;

Result<ReplayedLog> replay_log(FileSystem& files, const LogOptions& options,
                               const ReplayCallbacks& callbacks);

inline constexpr BytesView kSparePrefix = "spare-";
inline constexpr BytesView kDamagedPrefix = "damaged-";
inline constexpr BytesView kTemporaryEnd = ".tmp";

}  // namespace halite::storage::log_format
