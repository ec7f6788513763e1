// Files that are changed no more once the system has failed to make something last.
//
// After a failed sync nobody knows what is on the disk: a later one may say that all is well
// although bytes are missing, and what seemed to fail may have been done. Whoever cleans up then,
// as RocksDB does, may remove what the disk already speaks of. So the first failure ends all
// changes, reading goes on, and opening everything anew finds out what there is.
//
//   Threads  as FileSystem.
//   Errors   kUnavailable with the first failure's text for every change after it. A write that
//            found the disk full (kOverloaded) is no such failure, a sync is.
#pragma once

#include <memory>

#include "storage/files/files.h"

namespace halite::storage {

[[nodiscard]] std::shared_ptr<FileSystem> fused_files(std::shared_ptr<FileSystem> files);

}  // namespace halite::storage
