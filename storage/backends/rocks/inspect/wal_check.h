// Checks RocksDB's log files before RocksDB reads them, because RocksDB cannot tell a torn write
// from damage. In the recovery mode that accepts a torn end, it stops at the first bad record and
// deletes the file. Acknowledged writes after that record are lost without a message.
//
// The records that follow show the difference. RocksStore writes one record, syncs it, and only
// then writes the next. If a whole record follows a bad one, the bad one was synced and
// acknowledged, and is damaged. If none follows, it may be a torn write. It was never acknowledged,
// so RocksDB may cut it off.
//
// Log format: 32 KiB blocks of records `crc32c masked (4, LE) · length (2, LE) · type (1) · bytes`.
// These are types 1 to 4. A log with a whole record of another type is not checked here. RocksDB
// reads it if the library may know the type. Otherwise it is refused, because the library would
// treat it as a torn end. Recycled logs have the log's number (4, LE) after the type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

struct LogScan {
  std::uint64_t number = 0;                 // of the file: 000012.log has 12
  bool has_records = false;                 // at least one whole record
  std::optional<std::uint64_t> bad_offset;  // start of the first record that is not whole
  bool records_follow = false;              // whole records follow the bad one
  std::optional<std::uint8_t> other_type;   // of a record, not 1 to 4; the rest is not checked
};

// Whether RocksDB of the given version (see library_version()) may read such records.
[[nodiscard]] bool library_reads(std::uint8_t record_type, std::uint32_t library);
// The version of the RocksDB in this process: 7.8 is 708.
[[nodiscard]] std::uint32_t library_version();

// Reads one log file. kUnavailable: an I/O error.
[[nodiscard]] Result<LogScan> scan_log(FileSystem& files, const std::string& path);

// What precedes the payload of a record of the types 1 to 4.
inline constexpr std::size_t kLogHeaderBytes = 7;

// The payload of the record at the start of `bytes`, or of its first part if it is split. Nothing
// if no whole record starts there.
[[nodiscard]] std::optional<BytesView> whole_record(BytesView bytes);

// The lowest log number that RocksDB still needs. Called only if a damage depends on it.
using LogFloor = std::function<Result<std::uint64_t>()>;

// A log with a record that is not whole.
struct LogDefect {
  std::string path;
  LogScan scan;
  bool damaged = false;  // acknowledged writes follow; if false, it is the very last write
};
// Finds the defects in all logs of the directory that RocksDB still needs, oldest first.
[[nodiscard]] Result<std::vector<LogDefect>> find_log_defects(FileSystem& files,
                                                              const std::string& dir,
                                                              const LogFloor& floor);

// Checks every log of the directory. kCorruption names the file and the place of the damage. A torn
// end is logged as a warning. kUnsupported: a newer RocksDB wrote it.
[[nodiscard]] Result<void> check_logs(FileSystem& files, const std::string& dir,
                                      const LogFloor& floor);

}  // namespace halite::storage::rocks
