// The file system of the operating system.
#pragma once

#include <memory>

#include "storage/files/files.h"

namespace halite::storage {

[[nodiscard]] std::shared_ptr<FileSystem> posix_files();

}  // namespace halite::storage
