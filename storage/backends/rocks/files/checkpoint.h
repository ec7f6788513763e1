// A directory with a consistent copy of a database, made of hard links to its tables if possible.
// It then takes little time and space. It does not change while the database continues.
//
//   Threads  Call from any thread. Blocks.
#pragma once

#include <string>

#include <rocksdb/db.h>

#include "common/result.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

// `dir` must not exist; its parent is created. Flushes memory to tables first.
[[nodiscard]] Result<void> make_checkpoint(rocksdb::DB& db, FileSystem& files,
                                           const std::string& dir);

}  // namespace halite::storage::rocks
