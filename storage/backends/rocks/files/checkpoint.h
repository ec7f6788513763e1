// A directory that holds a database as it is now, made of second names of its tables where that can
// be done: it takes hardly any time or room, and stays as it is while the database goes on.
//
//   Threads  any; blocks.
#pragma once

#include <string>

#include <rocksdb/db.h>

#include "common/result.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

// `dir` is not there; the one above it is made. What is in memory is written to tables before.
[[nodiscard]] Result<void> make_checkpoint(rocksdb::DB& db, FileSystem& files,
                                           const std::string& dir);

}  // namespace halite::storage::rocks
