// A file system whose changes stay in memory. The file system beneath is only read and never
// changes.
//
// Serves a copied or read-only data directory: recovery and RocksDB can write, and the changes
// disappear with this object. Opening a file for writing copies the whole file into memory.
//
//   Threads  as FileSystem.
//   Errors   kOverloaded when the changes need more than bytes_max of memory, as on a full disk.
//            A directory that is not empty cannot be renamed.
//   Locks    exclude only other users of this object.
#pragma once

#include <cstdint>
#include <memory>

#include "storage/files/files.h"

namespace halite::storage {

[[nodiscard]] std::shared_ptr<FileSystem> copy_on_write_files(std::shared_ptr<FileSystem> beneath,
                                                              std::uint64_t bytes_max);

}  // namespace halite::storage
