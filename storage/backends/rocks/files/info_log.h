// Writes RocksDB's messages to the process's log.
//
// RocksDB's own LOG file is on the disk that it reports on. Once that file cannot be written (disk
// full), RocksDB's next message stops the process: Debian's package is built with assertions.
#pragma once

#include <memory>

#include <rocksdb/env.h>

namespace halite::storage::rocks {

// Logs warnings and errors.
[[nodiscard]] std::shared_ptr<rocksdb::Logger> make_info_log();

}  // namespace halite::storage::rocks
