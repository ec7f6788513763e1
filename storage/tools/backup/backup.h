// Backs up a data directory into a backup repository, and restores a backup.
//
// Writes only contents that the repository does not have yet, but reads every file to its end to
// find damage. A table file never changes. So it is damaged if its content differs from the
// previous backup, or if its blocks fail their checksums. The manifest records the damage, and
// later backups with the same content report it again.
//
//   Threads  any; blocks.
//   Errors   as those of the file system and of the store; kConflict: another backup is running
//            there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tools/backup/backup_store.h"

namespace halite::storage::backup {

struct Progress {
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;
};

struct BackupContext {
  std::shared_ptr<FileSystem> files;              // of the data directory
  std::function<void(const Progress&)> progress;  // may be empty
  std::function<bool()> ended;  // return true to end the work with kCancelled; may be empty
};

struct BackupResult {
  std::string backup;  // name of its manifest
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;           // of all files
  std::uint64_t bytes_copied = 0;    // of contents that the repository did not have
  std::vector<std::string> damaged;  // one line for each damaged file
};

// `data_dir` must not change meanwhile: it is closed, or a checkpoint.
[[nodiscard]] Result<BackupResult> make_backup(const BackupContext& work,
                                               const std::string& data_dir, BackupStore& store,
                                               TimestampMs now);

// Restores into `data_dir`, which must be missing or empty. An empty `backup` selects the newest.
// Files that were already damaged when they were backed up are restored as they are and listed.
// kCorruption: other contents are damaged or missing; the message lists all of them. An error
// leaves nothing behind.
[[nodiscard]] Result<BackupResult> restore(const BackupContext& work, BackupStore& store,
                                           const std::string& backup, const std::string& data_dir);

}  // namespace halite::storage::backup
