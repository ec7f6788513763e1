// The file system interface. All files, including RocksDB's, are opened, written, synced and
// removed through it, so that tests can inject faults (tests/support).
//
//   Durable  sync() or datasync() of a file makes its content durable. sync_dir() of its directory
//            makes its creation, renaming or removal durable.
//   Threads  call from any thread; one thread at a time writes to a file.
//   Blocks   every call. Do not call from io threads.
//   Errors   kNotFound; kConflict: it exists or is locked; kOverloaded: the disk is full, which may
//            be temporary; kUnavailable: any other error, with the system's text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/result.h"

namespace halite::storage {

enum class OpenFile : std::uint8_t {
  kRead,     // must exist; read only
  kWrite,    // must exist; read and write
  kCreate,   // must not exist, else kConflict
  kReplace,  // created, or emptied
};

enum class ReadPattern : std::uint8_t { kNormal, kRandom, kSequential };

// An open file. The destructor closes it without a sync.
class File {
 public:
  virtual ~File() = default;

  // Reads up to to.size() bytes; fewer only at the end of the file.
  virtual Result<std::size_t> pread(std::uint64_t offset, std::span<char> to) = 0;

  // Writes all bytes or returns an error; after an error any part of them may be written. A write
  // beyond the end leaves zeros in between.
  virtual Result<void> pwrite(std::uint64_t offset, BytesView bytes) = 0;
  virtual Result<void> append(BytesView bytes) = 0;

  // Reserves space for the range without changing size or content. Does nothing where the system
  // does not support it.
  virtual Result<void> reserve(std::uint64_t offset, std::uint64_t bytes) = 0;

  virtual Result<void> truncate(std::uint64_t size) = 0;  // or extends with zeros
  virtual Result<std::uint64_t> size() = 0;

  virtual Result<void> datasync() = 0;  // content, and the size if reads need it
  virtual Result<void> sync() = 0;      // also all metadata of the file

  // Hint: start writing the range to disk.
  virtual void start_writeback(std::uint64_t offset, std::uint64_t bytes) = 0;
  virtual void expect(ReadPattern pattern) = 0;
  // Hint: read the range ahead.
  virtual void read_ahead(std::uint64_t offset, std::uint64_t bytes) = 0;
};

// A lock against other processes and other holders in this process. The destructor releases it.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

enum class FileKind : std::uint8_t { kNone, kFile, kDirectory };

struct DiskSpace {
  std::uint64_t free_bytes = 0;   // that this process may still write
  std::uint64_t total_bytes = 0;  // of the whole file system
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<File>> open(const std::string& path, OpenFile how) = 0;

  virtual Result<void> remove(const std::string& path) = 0;  // a file
  // Replaces `to` atomically: after a power cut either the old or the new file is there.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> link(const std::string& from, const std::string& to) = 0;  // a hard link
  virtual Result<void> sync_dir(const std::string& dir) = 0;

  virtual Result<void> make_dir(const std::string& dir) = 0;    // kConflict if it exists
  virtual Result<void> remove_dir(const std::string& dir) = 0;  // must be empty
  // Sorted names of the files and directories in `dir`, without the path.
  virtual Result<std::vector<std::string>> list(const std::string& dir) = 0;

  virtual Result<FileKind> kind(const std::string& path) = 0;  // kNone is not an error
  virtual Result<std::uint64_t> size(const std::string& path) = 0;
  virtual Result<TimestampMs> modified(const std::string& path) = 0;
  virtual Result<DiskSpace> disk_space(const std::string& path) = 0;  // where `path` lies

  // Creates the file if necessary. kConflict: it is locked.
  virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path) = 0;
};

// "a/b" of "a/b/c"; "." without a slash.
[[nodiscard]] std::string dir_of(const std::string& path);
[[nodiscard]] std::string name_of(const std::string& path);

// Creates the directory and its parents durably. Not an error if it exists.
[[nodiscard]] Result<void> make_dirs(FileSystem& files, const std::string& dir);

// Reads the whole file. kTooLarge above bytes_max.
[[nodiscard]] Result<Bytes> read_whole(FileSystem& files, const std::string& path,
                                       std::uint64_t bytes_max);

// Creates or replaces the file with this content, atomically and durably, by way of `path` +
// ".tmp".
[[nodiscard]] Result<void> write_whole(FileSystem& files, const std::string& path, BytesView bytes);

}  // namespace halite::storage
