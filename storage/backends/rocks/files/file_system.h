// RocksDB's files through storage/files: what a FileSystem does to ours it does to RocksDB's too.
//
// After a failed sync it changes nothing any more (storage/files/fenced_files.h): RocksDB would
// remove the files of an entry of its manifest that it takes for lost.
//
//   Threads  as RocksDB asks: any call from any thread, one writer a file.
//   Errors   a full disk is an IOError to be tried again; what is not there is a NotFound.
#pragma once

#include <memory>

#include <rocksdb/file_system.h>

#include "storage/files/fenced_files.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

[[nodiscard]] std::shared_ptr<rocksdb::FileSystem> make_file_system(
    std::shared_ptr<FileSystem> files, std::shared_ptr<WriteFence> write_fence);

}  // namespace halite::storage::rocks
