// Converts RocksDB's Status to Error; the message keeps RocksDB's text.
//   Corruption, a missing file -> kCorruption; disk full, I/O and other temporary failures ->
//   kUnavailable; what only a bug explains -> kInternal.
#pragma once

#include <string_view>

#include <rocksdb/status.h>

#include "common/result.h"

namespace halite::storage::rocks {

// For a status that is not ok. `doing`: "cannot write", "cannot open /data".
[[nodiscard]] Error error_of(const rocksdb::Status& status, std::string_view doing);

[[nodiscard]] Result<void> checked(const rocksdb::Status& status, std::string_view doing);

}  // namespace halite::storage::rocks
