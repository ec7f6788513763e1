// Finds the log files that RocksDB still needs, from its manifest. Changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rocksdb/env.h>

#include "common/result.h"

namespace halite::storage::rocks {

// The lowest number of a log with writes that are not yet in a table file. Requires the names of
// all column families.
[[nodiscard]] Result<std::uint64_t> log_floor(rocksdb::Env* env, const std::string& dir,
                                              const std::vector<std::string>& families);

}  // namespace halite::storage::rocks
