// The files of a backup repository. Contents that several backups share are stored once. Stored
// files are never overwritten.
//
//   files/<hash>-<bytes>    contents
//   <time>.manifest         backups, written last
//   lock                    held by the writer
//
//   Threads  one at a time on a directory; blocks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tools/backup/manifest.h"

namespace halite::storage::backup {

// Called with the number of bytes read or written since the last call. An error ends the work.
using OnProgress = std::function<Result<void>(std::uint64_t bytes)>;

class BackupRepository {
 public:
  BackupRepository(FileSystem& files, std::string dir) : files_(files), dir_(std::move(dir)) {}

  // Creates the directory if necessary and locks it for writing. kConflict: it is locked. Reading
  // needs no lock.
  Result<void> open();

  // Reads the file to its end and returns its content id.
  Result<ContentId> content_of(const std::string& path, const OnProgress& worked);
  // Whether a file of this name and size is stored. Does not compare its bytes.
  [[nodiscard]] Result<bool> has(const ContentId& content);
  // Stores a durable copy of the file. kCorruption: the file no longer has this content.
  Result<void> add(const std::string& path, const ContentId& content, const OnProgress& worked);
  // Writes the content to a new file and syncs it, but not its directory. kNotFound: not stored.
  // kCorruption: the stored bytes do not match; they are copied anyway.
  Result<void> fetch(const ContentId& content, const std::string& path, const OnProgress& worked);

  // Manifest names, oldest first.
  Result<std::vector<std::string>> backups();
  Result<Manifest> read(const std::string& name);
  Result<void> write(const std::string& name, const Manifest& manifest);

 private:
  [[nodiscard]] std::string path_of(const ContentId& content) const;
  Result<ContentId> copy(const std::string& from, const std::string& to, const OnProgress& worked);

  FileSystem& files_;
  const std::string dir_;
  std::unique_ptr<FileLock> lock_;  // null: read only
};

}  // namespace halite::storage::backup
