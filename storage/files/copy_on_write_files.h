// Files whose changes stay in memory: what is beneath is only read, and is as before when this is
// gone.
//
// For a server on a copied data directory that must not change it, or cannot: recovery, RocksDB's
// own logs and whatever else wants to write does so, and nobody else sees it. A file that is opened
// for writing is copied whole at that moment.
//
//   Threads  as FileSystem.
//   Errors   kOverloaded when the changes would take more than bytes_max of memory, as on a full
//   disk.
//            A directory that is not empty keeps its name.
//   Locks    exclude others who use the same object, and nobody else: nothing is changed.
#pragma once

#include <cstdint>
#include <memory>

#include "storage/files/files.h"

namespace halite::storage {

[[nodiscard]] std::shared_ptr<FileSystem> copy_on_write_files(std::shared_ptr<FileSystem> beneath,
                                                              std::uint64_t bytes_max);

}  // namespace halite::storage
