// Checks every meaningful byte of a log without changing it.
//
// Skips bytes without meaning: the header page beyond its first 40 bytes, the padding of records
// and groups, everything after the last group (reserved space, or remains of an earlier use), and
// spare files. So it does not detect damage of a last group without records, which only says that
// everything before it was durable.
//
//   Threads  nothing writes the log meanwhile; blocks.
#pragma once

#include <cstdint>
#include <functional>
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
  // The lost records: [begin, end); none if equal.
  Sequence begin = 0;
  Sequence end = 0;
  // It may be a torn write, which was never acknowledged.
  bool may_be_torn = false;
  // The last complete record before the fault and the first after it, in this file; 0 = none.
  Sequence before = 0;
  Sequence behind = 0;
};

struct LogCheck {
  std::string dir;
  Sequence flushed_upto = 0;     // up to here, records are in chunks and not missed
  bool flushed_unknown = false;  // flushed_upto is unknown: truncated records are not missed
  // Called with each complete record, in order. kCorruption is reported as a fault of the record;
  // any other error ends the check.
  std::function<Result<void>(Sequence, BytesView payload)> record;
  std::function<void(const std::string& path, std::uint64_t bytes)> file_done;
};

// The faults of all segments, in order. Fails if a file cannot be read. kUnsupported: a later
// version wrote the log.
[[nodiscard]] Result<std::vector<LogFault>> check_log(FileSystem& files, const LogCheck& check);

}  // namespace halite::storage
