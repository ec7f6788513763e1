// RocksDB's own messages in the process's log.
//
// Not in its LOG file: that one lies on the disk it tells about, and once it could not be written
// (disk full) RocksDB stops the whole process at its next message, by an assertion that Debian's
// package was built with.
#pragma once

#include <memory>

#include <rocksdb/env.h>

namespace halite::storage::rocks {

// Warnings and worse.
[[nodiscard]] std::shared_ptr<rocksdb::Logger> make_info_log();

}  // namespace halite::storage::rocks
