// The contents and manifests of a backup repository. Contents that several backups share are stored
// once. Intact contents are never overwritten.
//
//   files/<hash>-<bytes>    contents
//   <time>.manifest         backups, written last
//
//   Threads  one at a time; blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tools/backup/backup_store.h"
#include "storage/tools/backup/manifest.h"

namespace halite::storage::backup {

// Called with the number of bytes read or written since the last call. An error ends the work.
using OnProgress = std::function<Result<void>(std::uint64_t bytes)>;

struct RemovedContents {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

class BackupRepository {
 public:
  // The store outlives it. `files` has the files that are backed up or restored.
  BackupRepository(FileSystem& files, BackupStore& store) : files_(files), store_(store) {}

  // Locks the store for writes and lists its contents. Reading needs no lock. kConflict: it is
  // locked.
  Result<void> open();

  // Reads the file to its end and returns its content id.
  Result<ContentId> content_of(const std::string& path, const OnProgress& worked);
  // Whether a content of this name and size is stored. Does not compare its bytes. Only after
  // open().
  [[nodiscard]] bool has(const ContentId& content) const;
  // Stores a durable copy of the file. kCorruption: the file no longer has this content.
  Result<void> add(const std::string& path, const ContentId& content, const OnProgress& worked);
  // Writes the content to a new file and syncs it, but not its directory. kNotFound: not stored;
  // there is no file then. kCorruption: the stored bytes do not match; they are copied anyway.
  Result<void> fetch(const ContentId& content, const std::string& path, const OnProgress& worked);
  // Reads the stored content. Errors as fetch().
  Result<void> verify(const ContentId& content, const OnProgress& worked);

  // Manifest names, oldest first.
  Result<std::vector<std::string>> backups();
  // The manifest's name of a backup that may be named without ".manifest"; the newest if it is
  // empty. kNotFound: there is no such backup.
  Result<std::string> find(const std::string& backup);
  Result<Manifest> read(const std::string& name);
  // kConflict: the lock was lost meanwhile, so that contents may be missing; the manifest is not
  // kept.
  Result<void> write(const std::string& name, const Manifest& manifest);

  // Removes a backup, but none of its contents.
  Result<void> remove(const std::string& name);
  // Removes the contents whose ContentId::name() is not in `kept`, and what interrupted writers
  // left, as far as possible. Only after open(). Files that are not Halite's stay.
  Result<RemovedContents> remove_contents_except(const std::set<std::string>& kept);

 private:
  Result<ContentId> read_file(const std::string& path, const TakeBytes& take,
                              const OnProgress& worked);
  Result<void> read_content(const ContentId& content, const TakeBytes& take,
                            const OnProgress& worked);

  FileSystem& files_;
  BackupStore& store_;
  std::unique_ptr<StoreLock> lock_;                // null: read only
  std::set<std::string> stored_;                   // names of intact contents, since open()
  std::map<std::string, StoredObject> manifests_;  // that backups() found
};

}  // namespace halite::storage::backup
