// Calls a hook before each read of RocksDB's files. The hook may delay or abort the read.
//
//   Threads  The hook runs on the reading thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <rocksdb/file_system.h>

namespace halite::storage::rocks {

// Called with the size of the read. If it returns false, the read fails with Aborted.
using ReadHook = std::function<bool(std::size_t bytes)>;

// For files with random access: tables.
[[nodiscard]] std::shared_ptr<rocksdb::FileSystem> hook_reads(
    const std::shared_ptr<rocksdb::FileSystem>& files, ReadHook hook);

}  // namespace halite::storage::rocks
