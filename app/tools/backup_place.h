// The places of backups: directories, and s3://BUCKET/PREFIX.
//
//   Threads  call from any thread that may block.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/settings/options.h"
#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tools/backup/backup_store.h"

namespace halite::app {

// The absolute path, without dots and a slash at the end.
[[nodiscard]] std::string normal_dir(const std::string& path);

// Whether a place needs the network, so that it may take long to answer.
[[nodiscard]] bool is_remote_place(const std::string& place);

// kInvalidArgument: a URL, perhaps a mistyped one, which would be a directory of a strange name.
[[nodiscard]] Result<void> check_is_path(const std::string& text);

// kConflict: a directory that is in the data directory, perhaps through links; neither needs to
// exist yet. Every later backup would contain them, and they would be lost with the data.
// kInvalidArgument: a wrong URL, or wrong settings for it.
[[nodiscard]] Result<void> check_backup_place(const std::string& place, const S3Settings& settings,
                                              const std::string& data_dir);

// kConflict: a data directory to create in the directory of the backups, where it would be taken
// for a part of them; otherwise as above.
[[nodiscard]] Result<void> check_restore_place(const std::string& place,
                                               const std::string& data_dir);

struct BackupPlace {
  std::string place;
  const S3Settings& s3;
  storage::FileSystem& files;   // outlives the store
  std::function<bool()> ended;  // return true to end requests with kCancelled; may be empty
};

// Finds the credentials of an S3 store, but sends nothing. kUnauthenticated: there are none.
// kInvalidArgument: as above.
[[nodiscard]] Result<std::unique_ptr<storage::backup::BackupStore>> open_backup_store(
    const BackupPlace& place);

}  // namespace halite::app
