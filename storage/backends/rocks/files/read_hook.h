// Tells of every read of RocksDB's files before it is made, so that somebody may make it wait, or
// end it.
//
//   Threads  as the files'; `hook` is called by whoever reads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <rocksdb/file_system.h>

namespace halite::storage::rocks {

// So many bytes are about to be read. False: they are not to be; the read is Aborted.
using ReadHook = std::function<bool(std::size_t bytes)>;

// Of files for random reading: tables.
[[nodiscard]] std::shared_ptr<rocksdb::FileSystem> hook_reads(
    const std::shared_ptr<rocksdb::FileSystem>& files, ReadHook hook);

}  // namespace halite::storage::rocks
