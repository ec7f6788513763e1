// Removes a directory tree.
//
//   Threads  nothing else uses the directory meanwhile; blocks.
#pragma once

#include <string>

#include "storage/files/files.h"

namespace halite::storage {

// Removes `dir` and its content, if it exists. After a power cut a part may remain.
[[nodiscard]] Result<void> remove_tree(FileSystem& files, const std::string& dir);

}  // namespace halite::storage
