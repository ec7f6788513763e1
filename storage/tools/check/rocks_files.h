// Checks the files of a RocksDB directory other than its tables: the manifest and the logs.
//
//   Threads  nothing else writes there meanwhile; blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rocksdb/env.h>

#include "common/result.h"
#include "storage/files/files.h"
#include "storage/tools/check/report.h"

namespace halite::storage::check {

// Skips files that are not read: OPTIONS-*, IDENTITY, LOCK, and tables and logs that the database
// no longer needs.
[[nodiscard]] Result<std::vector<Finding>> check_rocks_files(FileSystem& files, rocksdb::Env* env,
                                                             const std::string& dir);

// The lowest number of a log that the database needs. Requires an undamaged manifest.
[[nodiscard]] Result<std::uint64_t> lowest_log_needed(rocksdb::Env* env, const std::string& dir);

}  // namespace halite::storage::check
