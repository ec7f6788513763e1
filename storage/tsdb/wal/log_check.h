// Looks at every byte of a log and changes nothing: for who wants to know whether it is sound.
//
// Not looked at are bytes that say nothing: what is behind the 40 bytes of a segment's head on its
// page, zeros that fill up records and groups, what lies behind the last group (it was reserved, or
// is of an earlier life of the file), spare files. So a damaged last group of no records, which
// tells nothing but that all before it was durable, is not seen.
//
//   Threads  nobody writes the log meanwhile; blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage {

struct LogFault {
  std::string file;
  std::uint64_t offset = 0;
  std::string what = {};
  // The records lost: [begin, end); none where these are equal.
  Sequence begin = 0;
  Sequence end = 0;
  // It may be what a power cut left of a write that nobody was told is safe.
  bool may_be_torn = false;
  // The last whole record before it and the first one behind; 0 = there is none. The file's.
  Sequence before = 0;
  Sequence behind = 0;
};

struct LogCheck {
  std::string dir;
  Sequence flushed_upto = 0;     // what is known to be elsewhere: nobody misses that
  bool flushed_unknown = false;  // what was dropped is not missed
  // Each whole record of the log, in order. kCorruption is a fault of it, any other error ends the
  // check.
  std::function<Result<void>(Sequence, BytesView payload)> record;
  std::function<void(const std::string& path, std::uint64_t bytes)> file_done;
};

// Of all segments, in their order. An error only where a file cannot be read.
[[nodiscard]] Result<std::vector<LogFault>> check_log(FileSystem& files, const LogCheck& check);

}  // namespace halite::storage
