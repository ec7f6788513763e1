// Looks at RocksDB's log files before RocksDB does, because RocksDB cannot tell an unfinished write
// from a damaged one: with the recovery mode that survives a torn tail it stops at the first bad
// record, deletes the file, and acknowledged writes behind that record are gone without a word.
//
// The difference shows in what follows. RocksStore writes one record, syncs it, and only then
// writes the next. So when a whole record stands behind a bad one, the bad one had been synced, and
// acknowledged, and is damaged now. When nothing whole follows, it may be the write that a power
// cut tore, which nobody was told is safe: RocksDB may cut it off.
//
// Log format: 32 KiB blocks of records `crc32c masked (4, LE) · length (2, LE) · type (1) · bytes`.
// These are types 1 to 4. A log with a whole record of another type is not judged here: RocksDB
// reads it where the library may know the type, and it is refused where the library cannot, because
// that one would stop there as at a torn end. What recycles logs puts their number (4, LE) behind
// the type.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

struct LogScan {
  std::uint64_t number = 0;                 // of the file: 000012.log is 12
  bool has_records = false;                 // at least one whole one
  std::optional<std::uint64_t> bad_offset;  // where the first record that is not whole begins
  bool records_follow = false;              // whole ones, behind the bad one
  std::optional<std::uint8_t> other_type;   // of the first whole record that is not of types 1 to
                                            // 4; what comes from there on was not looked at
};

// Whether a RocksDB of that version, as library_version() says it, may read such records.
[[nodiscard]] bool library_reads(std::uint8_t record_type, std::uint32_t library);
// Of the library that this process is built with: 7.8 is 708.
[[nodiscard]] std::uint32_t library_version();

// Reads one log file; an I/O error is kUnavailable.
[[nodiscard]] Result<LogScan> scan_log(FileSystem& files, const std::string& path);

// The payload of the record that `bytes` begins with, or of its first part where it is split;
// nothing when there is no whole one.
[[nodiscard]] std::optional<BytesView> whole_record(BytesView bytes);

// The lowest log number that RocksDB still needs. Asked only when a damage depends on it.
using LogFloor = std::function<Result<std::uint64_t>()>;

// A log with a record that is not whole.
struct LogDefect {
  std::string path;
  LogScan scan;
  bool damaged = false;  // acknowledged writes follow; else it is the last write of all
};
// Of every log of the directory that RocksDB still needs, oldest first.
[[nodiscard]] Result<std::vector<LogDefect>> find_log_defects(FileSystem& files,
                                                              const std::string& dir,
                                                              const LogFloor& floor);

// Checks every log of the directory. kCorruption names the file and the place of a damage; what is
// only torn off is logged as a warning. kUnsupported: a newer RocksDB wrote it.
[[nodiscard]] Result<void> check_logs(FileSystem& files, const std::string& dir,
                                      const LogFloor& floor);

}  // namespace halite::storage::rocks
