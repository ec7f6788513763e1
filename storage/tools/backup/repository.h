// The files of a backup directory: contents by what they are, each once however many backups have
// it. Nothing that is there is ever written again.
//
//   files/<hash>-<bytes>    contents
//   <time>.manifest         backups, written last
//   lock                    of who keeps something there
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

// So many bytes more were read or written. An error ends the work with it.
using OnProgress = std::function<Result<void>(std::uint64_t bytes)>;

class BackupRepository {
 public:
  BackupRepository(FileSystem& files, std::string dir) : files_(files), dir_(std::move(dir)) {}

  // Makes the directory where it is not there, and takes it for this object alone. kConflict:
  // somebody else keeps something there. Nobody needs it to read.
  Result<void> open();

  // What a file holds: reads it to its end.
  Result<ContentId> content_of(const std::string& path, const OnProgress& worked);
  // There is a file of that name and size: its bytes are not compared.
  [[nodiscard]] Result<bool> has(const ContentId& content);
  // A copy of the file, which has that content; durable afterwards. kCorruption: it has another
  // one now.
  Result<void> add(const std::string& path, const ContentId& content, const OnProgress& worked);
  // The content as a new file; durable but for the directory. kNotFound: it is not there.
  // kCorruption: it is another one, and was copied all the same.
  Result<void> fetch(const ContentId& content, const std::string& path, const OnProgress& worked);

  // Names of manifests, oldest first.
  Result<std::vector<std::string>> backups();
  Result<Manifest> read(const std::string& name);
  Result<void> write(const std::string& name, const Manifest& manifest);

 private:
  [[nodiscard]] std::string path_of(const ContentId& content) const;
  Result<ContentId> copy(const std::string& from, const std::string& to, const OnProgress& worked);

  FileSystem& files_;
  const std::string dir_;
  std::unique_ptr<FileLock> lock_;  // null: only read
};

}  // namespace halite::storage::backup
