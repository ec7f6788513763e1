// Keeps a data directory, as it is, in a directory of backups, and makes one of a backup again.
//
// Only contents that the backups do not have yet are written. Every file is read to its end all the
// same, so what has rotted shows: a table is never changed, so one that is not as it was when it
// was kept last is damaged, and so is one whose blocks do not fit their checksums. The manifest
// has that, and every later backup with the same content tells it again.
//
//   Threads  any; blocks.
//   Errors   as the files'; kConflict: somebody else makes a backup there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "storage/files/files.h"

namespace halite::storage::backup {

struct Progress {
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;
};

struct BackupContext {
  std::shared_ptr<FileSystem> files;
  std::function<void(const Progress&)> progress;  // may be empty
  std::function<bool()> ended;  // true: the work ends with kCancelled; may be empty
};

struct BackupResult {
  std::string backup;  // its manifest's name
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;           // of all files
  std::uint64_t bytes_copied = 0;    // of those that were not there
  std::vector<std::string> damaged;  // what is not as it should be, a line each
};

// The data directory does not change meanwhile: nobody has it open, or it is a snapshot.
[[nodiscard]] Result<BackupResult> make_backup(const BackupContext& work,
                                               const std::string& data_dir,
                                               const std::string& backups, TimestampMs now);

// Makes `data_dir`, which is not there, or empty. The newest backup where none is named. What was
// damaged already when it was kept is restored as it is, and named. kCorruption: other contents are
// damaged or missing, all of them named. An error leaves nothing behind.
[[nodiscard]] Result<BackupResult> restore(const BackupContext& work, const std::string& backups,
                                           const std::string& backup, const std::string& data_dir);

}  // namespace halite::storage::backup
