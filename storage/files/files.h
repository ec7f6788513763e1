// The one door to the disk: every file of ours, and RocksDB's, is opened, written, synced and
// removed through a FileSystem, so that a test can put a faulty one underneath (tests/support).
//
//   Lasting  what was written outlives a power cut after sync() or datasync() of the file; that the
//            file is there at all (made, renamed, removed), after sync_dir() of its directory.
//   Threads  any call from any thread; writes to one file by one thread at a time.
//   Blocks   every call. Not for io threads.
//   Errors   kNotFound; kConflict: it exists, or somebody holds the lock; kOverloaded: the disk is
//            full, there may be room later; kUnavailable: anything else, with the system's text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/clock.h"
#include "common/result.h"

namespace halite::storage {

enum class OpenFile : std::uint8_t {
  kRead,     // exists; reading only
  kWrite,    // exists; reading and writing
  kCreate,   // does not exist; kConflict otherwise
  kReplace,  // made, or emptied
};

enum class ReadPattern : std::uint8_t { kNormal, kRandom, kSequential };

// An open file. Closing it (the destructor) syncs nothing.
class File {
 public:
  virtual ~File() = default;

  // Reads up to to.size() bytes; fewer only where the file ends.
  virtual Result<std::size_t> pread(std::uint64_t offset, std::span<char> to) = 0;

  // All bytes or an error; after an error any part of them may have been written. A write behind
  // the end leaves zeros between.
  virtual Result<void> pwrite(std::uint64_t offset, BytesView bytes) = 0;
  virtual Result<void> append(BytesView bytes) = 0;

  // Reserves space for the range without changing size or content; where that cannot be done
  // nothing happens.
  virtual Result<void> reserve(std::uint64_t offset, std::uint64_t bytes) = 0;

  virtual Result<void> truncate(std::uint64_t size) = 0;  // or grows it with zeros
  virtual Result<std::uint64_t> size() = 0;

  virtual Result<void> datasync() = 0;  // content, and size where reading needs it
  virtual Result<void> sync() = 0;      // all of the file's metadata too

  // Asks the system to begin writing the range out; promises nothing.
  virtual void start_writeback(std::uint64_t offset, std::uint64_t bytes) = 0;
  virtual void expect(ReadPattern pattern) = 0;
  // Asks the system to read the range ahead; promises nothing.
  virtual void read_ahead(std::uint64_t offset, std::uint64_t bytes) = 0;
};

// A lock against other processes, and other holders in this one. Gone with the object.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

enum class FileKind : std::uint8_t { kNone, kFile, kDirectory };

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<File>> open(const std::string& path, OpenFile how) = 0;

  virtual Result<void> remove(const std::string& path) = 0;  // a file
  // Replaces what is at `to`: after a power cut there is the old one or the new one.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> link(const std::string& from, const std::string& to) = 0;  // a second name
  virtual Result<void> sync_dir(const std::string& dir) = 0;

  virtual Result<void> make_dir(const std::string& dir) = 0;    // kConflict when it is there
  virtual Result<void> remove_dir(const std::string& dir) = 0;  // an empty one
  // Names of files and directories in it, without the path, sorted.
  virtual Result<std::vector<std::string>> list(const std::string& dir) = 0;

  virtual Result<FileKind> kind(const std::string& path) = 0;  // kNone is no error
  virtual Result<std::uint64_t> size(const std::string& path) = 0;
  virtual Result<TimestampMs> modified(const std::string& path) = 0;
  virtual Result<std::uint64_t> free_bytes(const std::string& path) = 0;

  // Makes the file if it is not there. kConflict: it is locked.
  virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path) = 0;
};

// "a/b" of "a/b/c"; "." where there is no slash.
[[nodiscard]] std::string dir_of(const std::string& path);
[[nodiscard]] std::string name_of(const std::string& path);

// Makes the directory and those above it so that they outlive a power cut. No error where it is.
[[nodiscard]] Result<void> make_dirs(FileSystem& files, const std::string& dir);

// The whole file. kTooLarge over bytes_max.
[[nodiscard]] Result<Bytes> read_whole(FileSystem& files, const std::string& path,
                                       std::uint64_t bytes_max);

// Makes the file with this content, or gives it this content, in one step that outlives a power
// cut: through `path` + ".tmp".
[[nodiscard]] Result<void> write_whole(FileSystem& files, const std::string& path, BytesView bytes);

}  // namespace halite::storage
