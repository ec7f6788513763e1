// Runs RocksDB's file operations through storage/files, so a FileSystem affects RocksDB, too.
//
// After a failed sync it changes nothing more (storage/files/fenced_files.h). Otherwise RocksDB
// would remove the files of a manifest entry that it believes lost.
//
//   Threads  As RocksDB requires: call from any thread, one writer for each file.
//   Errors   A full disk is a retryable IOError; a missing file is NotFound.
#pragma once

#include <memory>

#include <rocksdb/file_system.h>

#include "storage/files/fenced_files.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

[[nodiscard]] std::shared_ptr<rocksdb::FileSystem> make_file_system(
    std::shared_ptr<FileSystem> files, std::shared_ptr<WriteFence> write_fence);

}  // namespace halite::storage::rocks
