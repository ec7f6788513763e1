// Removes whole directories.
//
//   Threads  nobody works in the directory meanwhile; blocks.
#pragma once

#include <string>

#include "storage/files/files.h"

namespace halite::storage {

// The directory and all in it, where it is there. After a power cut some of it may still be.
[[nodiscard]] Result<void> remove_tree(FileSystem& files, const std::string& dir);

}  // namespace halite::storage
