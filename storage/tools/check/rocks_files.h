// What a RocksDB directory needs besides its tables: the files that say which those are, and its
// logs.
//
//   Threads  nobody writes there meanwhile; blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rocksdb/env.h>

#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tools/check/report.h"

namespace halite::storage::check {

// Not looked at, since nobody reads them: OPTIONS-*, IDENTITY, LOCK, and tables and logs that the
// database has no use for any more.
[[nodiscard]] Result<std::vector<Finding>> check_rocks_files(FileSystem& files, rocksdb::Env* env,
                                                             const std::string& dir);

// The lowest number of a log that the database needs. Needs a sound manifest.
[[nodiscard]] Result<std::uint64_t> lowest_log_needed(rocksdb::Env* env, const std::string& dir);

}  // namespace halite::storage::check
