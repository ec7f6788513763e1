// Which log files RocksDB still needs, asked of its manifest without changing anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rocksdb/env.h>

#include "common/result.h"

namespace halite::storage::rocks {

// The lowest number of a log with writes that are not in a table file yet. Needs every column
// family's name.
[[nodiscard]] Result<std::uint64_t> log_floor(rocksdb::Env* env, const std::string& dir,
                                              const std::vector<std::string>& families);

}  // namespace halite::storage::rocks
