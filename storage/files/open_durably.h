// Files that are written beside a checkpoint, and have to be there when it is.
#pragma once

#include <memory>
#include <string>

#include "storage/files/files.h"

namespace halite::storage {

// As FileSystem::open(), for writing; the name is durable when it returns.
[[nodiscard]] Result<std::unique_ptr<File>> open_durably(FileSystem& files, const std::string& path,
                                                         OpenFile how);

}  // namespace halite::storage
