// Whether a directory has a database.
//
//   Threads  Call from any thread.
#pragma once

#include <string>

#include "common/result.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

// Whether there are tables, as far as file names say.
[[nodiscard]] Result<bool> has_tables(FileSystem& files, const std::string& dir);

// False: there is no database, or RocksDB did not finish creating it. `dir` must exist.
[[nodiscard]] Result<bool> is_created(FileSystem& files, const std::string& dir);

}  // namespace halite::storage::rocks
