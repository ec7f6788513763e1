#include "storage/backends/rocks/inspect/wal_check.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <rocksdb/version.h>

#include "common/bytes/crc32c.h"
#include "common/bytes/little_endian.h"
#include "common/log.h"

namespace halite::storage::rocks {

namespace {

constexpr std::size_t kBlockBytes = 32768;
constexpr std::size_t kReadBytes = 32 * kBlockBytes;
constexpr std::string_view kLogEnd = ".log";

enum RecordType : unsigned char { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

// Records of recycled logs have types 5 to 8, 11 and, from some version on, others.
constexpr std::size_t kRecyclableHeaderBytes = 11;
// This version is known: it has types 1 to 9. Later ones may have more.
constexpr std::uint32_t kKnownLibrary = 708;
constexpr std::uint8_t kKnownTypes = 9;

std::uint32_t byte_at(BytesView bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

struct Fragment {
  RecordType type = kFull;
  std::size_t bytes = 0;  // including its header
};

// The checksum covers all bytes from the type on.
bool checksum_fits(BytesView bytes, std::size_t header_bytes) {
  if (bytes.size() < header_bytes) return false;
  const std::size_t length = load_le<std::uint16_t>(bytes.data() + 4);
  if (header_bytes + length > bytes.size()) return false;
  const auto masked = load_le<std::uint32_t>(bytes.data());
  // RocksDB masks the checksum, because a checksum of data that contains checksums is weak.
  const std::uint32_t rotated = masked - 0xA282EAD8u;
  const std::uint32_t expected = rotated >> 17 | rotated << 15;
  return crc32c(bytes.substr(6, header_bytes - 6 + length)) == expected;
}

// The fragment at the start of `bytes`; nothing if it is not whole.
std::optional<Fragment> parse_fragment(BytesView bytes) {
  if (bytes.size() < kLogHeaderBytes) return std::nullopt;
  const auto type = static_cast<RecordType>(byte_at(bytes, 6));
  if (type < kFull || type > kLast || !checksum_fits(bytes, kLogHeaderBytes)) return std::nullopt;
  return Fragment{type, kLogHeaderBytes + (load_le<std::uint16_t>(bytes.data() + 4))};
}

// The type of the whole record at the start of `bytes`, if it is not one of types 1 to 4.
std::optional<std::uint8_t> other_type(BytesView bytes) {
  if (bytes.size() < kLogHeaderBytes) return std::nullopt;
  const auto type = static_cast<std::uint8_t>(byte_at(bytes, 6));
  if (type >= kFull && type <= kLast) return std::nullopt;
  const bool whole =
      checksum_fits(bytes, kLogHeaderBytes) || checksum_fits(bytes, kRecyclableHeaderBytes);
  return whole ? std::optional(type) : std::nullopt;
}

// Reads a log block by block. LogScan describes the result.
class LogWalker {
 public:
  explicit LogWalker(std::uint64_t number) { scan_.number = number; }

  // Returns false if the rest is not needed.
  bool walk_block(BytesView block) {
    std::size_t at = 0;
    if (!scan_.bad_offset) at = walk_whole(block);
    if (scan_.other_type) return false;
    if (scan_.bad_offset && !scan_.records_follow) {
      scan_.records_follow = holds_record_begin(block.substr(at));
    }
    block_offset_ += block.size();
    return !scan_.records_follow;
  }

  LogScan finish() {
    if (!scan_.bad_offset && record_begin_ && !scan_.other_type) scan_.bad_offset = record_begin_;
    return scan_;
  }

 private:
  // Reads up to the end of the block or the first bad fragment. Returns the position.
  std::size_t walk_whole(BytesView block) {
    std::size_t at = 0;
    while (at < block.size()) {
      // The last bytes of a block, too short for a header, are padding.
      if (block.size() == kBlockBytes && kBlockBytes - at < kLogHeaderBytes) return block.size();
      const auto fragment = parse_fragment(block.substr(at));
      if (!fragment) scan_.other_type = other_type(block.substr(at));
      if (scan_.other_type) {
        scan_.has_records = true;
        return at;
      }
      if (!fragment || !fits_in(*fragment, block_offset_ + at)) {
        scan_.bad_offset = record_begin_.value_or(block_offset_ + at);
        return at;
      }
      at += fragment->bytes;
    }
    return at;
  }

  // Whether the fragment is valid here. Tracks the record that it belongs to.
  bool fits_in(const Fragment& fragment, std::uint64_t offset) {
    const bool begins = fragment.type == kFull || fragment.type == kFirst;
    if (begins == record_begin_.has_value()) return false;
    if (fragment.type == kFirst) record_begin_ = offset;
    if (fragment.type == kFull || fragment.type == kLast) {
      record_begin_.reset();
      scan_.has_records = true;
    }
    return true;
  }

  // A length after damage cannot be trusted, so every byte is tried as a start. A random match
  // occurs in one of 2^32 places.
  static bool holds_record_begin(BytesView bytes) {
    for (std::size_t at = 0; at + kLogHeaderBytes <= bytes.size(); ++at) {
      const std::uint32_t type = byte_at(bytes, at + 6);
      if (type != kFull && type != kFirst) continue;
      if (parse_fragment(bytes.substr(at))) return true;
    }
    return false;
  }

  LogScan scan_;
  std::uint64_t block_offset_ = 0;             // of the block in the file
  std::optional<std::uint64_t> record_begin_;  // set between a first and a last fragment
};

// Parses "000012.log" to 12.
std::optional<std::uint64_t> log_number(const std::string& name) {
  if (!name.ends_with(kLogEnd)) return std::nullopt;
  const char* const digits_end = name.data() + name.size() - kLogEnd.size();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), digits_end, number);
  if (error != std::errc() || end != digits_end) return std::nullopt;
  return number;
}

struct LogFile {
  std::uint64_t number = 0;
  std::string path;
};

Result<std::vector<LogFile>> list_logs(FileSystem& files, const std::string& dir) {
  std::vector<LogFile> logs;
  TRY(const std::vector<std::string> names, files.list(dir));
  for (const std::string& name : names) {
    if (const auto number = log_number(name)) logs.push_back({*number, dir + "/" + name});
  }
  std::ranges::sort(logs, {}, &LogFile::number);
  return logs;
}

std::unexpected<Error> damaged(const LogDefect& trouble) {
  return fail(Errc::kCorruption,
              fmt::format("{} is damaged at byte {}, and intact records follow: opening it would "
                          "lose acknowledged writes. Restore the file from a copy, or accept the "
                          "loss of everything after that byte (rocksdb.accept_damaged_log)",
                          trouble.path, *trouble.scan.bad_offset));
}

// Whether RocksDB should handle the log.
Result<bool> left_to_library(const std::string& path, const LogScan& scan) {
  if (!scan.other_type) return false;
  if (library_reads(*scan.other_type, library_version())) {
    log::warn("{} has records of type {}, so it is not checked before RocksDB reads it", path,
              *scan.other_type);
    return true;
  }
  return fail(
      Errc::kUnsupported,
      fmt::format("{} has a record of type {}, which a newer RocksDB wrote: this version ({}.{}) "
                  "would lose the records after it. Open the directory with the version of Halite "
                  "that used it last",
                  path, *scan.other_type, library_version() / 100, library_version() % 100));
}

}  // namespace

bool library_reads(std::uint8_t record_type, std::uint32_t library) {
  return library > kKnownLibrary || record_type <= kKnownTypes;
}

std::uint32_t library_version() { return ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR; }

std::optional<BytesView> whole_record(BytesView bytes) {
  const auto fragment = parse_fragment(bytes);
  if (!fragment || (fragment->type != kFull && fragment->type != kFirst)) return std::nullopt;
  return bytes.substr(kLogHeaderBytes, fragment->bytes - kLogHeaderBytes);
}

Result<LogScan> scan_log(FileSystem& files, const std::string& path) {
  LogWalker walker(log_number(name_of(path)).value_or(0));
  TRY(const std::unique_ptr<File> file, files.open(path, OpenFile::kRead));
  file->expect(ReadPattern::kSequential);
  Bytes buffer(kReadBytes, '\0');
  std::uint64_t offset = 0;
  bool more = true;
  while (more) {
    TRY(const std::size_t got, file->pread(offset, buffer));
    offset += got;
    more = got == buffer.size();
    for (BytesView rest = BytesView(buffer).substr(0, got); !rest.empty();) {
      const BytesView block = rest.substr(0, kBlockBytes);
      if (!walker.walk_block(block)) return walker.finish();
      rest.remove_prefix(block.size());
    }
  }
  return walker.finish();
}

Result<std::vector<LogDefect>> find_log_defects(FileSystem& files, const std::string& dir,
                                                const LogFloor& floor) {
  TRY(const std::vector<LogFile> logs, list_logs(files, dir));
  std::vector<LogDefect> defects;
  std::optional<LogDefect> torn;  // the first bad record, while nothing has followed
  for (const LogFile& log : logs) {
    TRY(const LogScan scan, scan_log(files, log.path));
    if (torn && scan.has_records) {
      // A log whose data is in tables, but which is not yet deleted, has nothing to lose. This
      // happens after a full disk: the log ends with half a record and writing continues in the
      // next log.
      TRY(const std::uint64_t needed, floor());
      torn->damaged = true;
      if (torn->scan.number >= needed) defects.push_back(*torn);
      torn.reset();
    }
    TRY(const bool left, left_to_library(log.path, scan));
    if (left || !scan.bad_offset) continue;
    if (scan.records_follow) {
      TRY(const std::uint64_t needed, floor());
      if (scan.number >= needed) defects.push_back({log.path, scan, true});
      continue;
    }
    if (!torn) torn = LogDefect{log.path, scan, false};
  }
  if (torn) defects.push_back(*torn);
  return defects;
}

Result<void> check_logs(FileSystem& files, const std::string& dir, const LogFloor& floor) {
  TRY(const std::vector<LogDefect> defects, find_log_defects(files, dir, floor));
  for (const LogDefect& trouble : defects) {
    if (trouble.damaged) return damaged(trouble);
    log::warn(
        "{} ended in an incomplete write at byte {}, which was removed; it was never acknowledged",
        trouble.path, *trouble.scan.bad_offset);
  }
  return {};
}

}  // namespace halite::storage::rocks
